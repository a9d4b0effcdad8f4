import { isRecord } from '@toolyard/contract/terms'
import { randomUUID } from 'node:crypto'
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { movable, type Threads } from '../run/threads.ts'
import { readMessage, type CallResult, type ReadMessage } from './message.ts'
import type { CallError } from '@toolyard/contract'

/** Bytes of a message that is read at once; a larger one is read in a thread. */
const shortMessage = 65_536
const maxMs = 30_000
/** Messages that answer nothing: so many at once, and so many a second from then on. */
const burst = 2_000
const perSecond = 200
/** The field of `_meta` that names the result which was taken out of a message. */
const resultKey = 'toolyard/result'

/** Something that a server does and that ends its connection. */
export class ServerFault extends Error {
  override readonly name = 'ServerFault'
  /** The error that calls get; absent: the server can't be used. */
  readonly callError: CallError | undefined

  constructor (message: string, callError?: CallError) {
    super(message)
    this.callError = callError
  }
}

/** A server that could not be connected to: the request has not reached it. */
export class UnsentFault extends ServerFault {
  readonly unsent = true
}

/** Reads what one connection receives. */
export interface MessageReader {
  /** Undefined for what is no message. @throws ServerFault when there are too many. */
  read (bytes: Buffer): Promise<JSONRPCMessage | undefined>
  /** The result that was taken out of a message; only once. */
  take (meta: unknown): CallResult | undefined
}

/**
 * Makes the reader of a connection. Results of calls are taken out of their messages before the client sees them: it
 * would walk through all of a result, at once.
 */
export function createMessageReader (threads: Threads, signal: AbortSignal): MessageReader {
  const results = new Map<string, CallResult>()
  let tokens = burst
  let filledAt = performance.now()

  function spend (): void {
    const now = performance.now()
    tokens = Math.min(burst, tokens + (now - filledAt) / 1_000 * perSecond) - 1
    filledAt = now
    if (tokens < 0) throw new ServerFault(`it sends more than ${perSecond} messages a second that nobody asked for`)
  }

  return {
    async read (bytes) {
      const read = bytes.length <= shortMessage ? readMessage(bytes.toString('utf8')) : await inThread(bytes, threads, signal)
      const { message, call } = read ?? {}
      if (message === undefined || message['id'] === undefined || message['method'] !== undefined) spend()
      if (message === undefined) return undefined
      if (call === undefined) return unchecked(message)
      const key = randomUUID()
      results.set(key, call)
      const { result } = message
      const fields = isRecord(result) ? result : {}
      const meta = isRecord(fields['_meta']) ? fields['_meta'] : {}
      // The key is secret: only this reader can have written it.
      return unchecked({ ...message, result: { ...fields, _meta: { ...meta, [resultKey]: key } } })
    },
    take (meta) {
      const key = isRecord(meta) ? meta[resultKey] : undefined
      if (typeof key !== 'string') return undefined
      const result = results.get(key)
      results.delete(key)
      return result
    }
  }
}

async function inThread (bytes: Buffer, threads: Threads, signal: AbortSignal): Promise<ReadMessage | undefined> {
  const own = Uint8Array.from(bytes)
  return await threads.run<ReadMessage | undefined>({ kind: 'message', task: { bytes: own } }, { until: Date.now() + maxMs, signal, move: movable(own) })
}

/** The client checks each message before it uses it. */
function unchecked (message: Record<string, unknown>): JSONRPCMessage {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- See above.
  return message as unknown as JSONRPCMessage
}
