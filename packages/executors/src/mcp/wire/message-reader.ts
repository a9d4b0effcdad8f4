import { setImmediate as turn } from 'node:timers/promises'
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { createCapture, type LoopTurns } from '@toolyard/runtime'
import { movable, type Threads } from '@toolyard/runtime/threads'
import { readMessage, type CallResult, type MessageTask, type ReadMessage } from './message.ts'
import type { CallError } from '@toolyard/contract'

/** Bytes of a message that is read at once; a larger one is read in a thread. */
const shortMessage = 65_536
const maxMs = 30_000
/** One turn of the event loop reads so much, or so many short messages, whatever number of servers sent it. */
const ofTurn = { bytes: 65_536, messages: 32 }
/** Messages that nobody asked for: so many at once, and so many a second from then on. Each 16 KiB of them count as one. */
const burst = 2_000
const perSecond = 200
const bytesOfOne = 16_384
/** Reports of a server that works on: those beyond the bound are left out, since a later one says more, and so many of them end it. */
const reports = new Set<unknown>(['notifications/progress', 'notifications/message'])
const mostLeftOut = 20_000
/** Requests without an answer that are remembered: a server may never answer one that was given up. */
const mostAsked = 1_000

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

export function tooLong (maxBytes: number): ServerFault {
  return new ServerFault(`it sent a message of more than ${maxBytes} bytes`)
}

/** The reason for the end of a server that leaves unread what it is sent. */
export const notRead = 'it does not read what it is sent'

/** A server that could not be connected to, or that has ended before the request was sent: it has not reached it. */
export class UnsentFault extends ServerFault {
  readonly unsent = true
}

export interface MessageReader {
  /** Notes what the client sends: a call is awaited from then on. */
  sent (message: JSONRPCMessage): void
  /** Undefined for what is no message, null for a report that is left out. @throws ServerFault when there are too many. */
  read (bytes: Buffer): Promise<JSONRPCMessage | null | undefined>
  /** Ends the wait for the call with these arguments, the same object. Gives its result, if it had one. */
  endCall (args: object): CallResult | undefined
}

/**
 * Makes the reader of a connection. Results of calls are taken out of their messages before the client sees them: it
 * would walk through all of a result, at once. Only results that are awaited are kept, as a server may send any.
 */
export function createMessageReader (
  { threads, turns, owner, secrets }: { threads: Threads, turns: LoopTurns, owner: string, secrets: readonly string[] }, signal: AbortSignal
): MessageReader {
  /** The arguments of the calls without an answer, by the id of the request. */
  const awaited = new Map<number | undefined, unknown>()
  /** The ids of all requests without an answer, also of those that were given up: the first answer to each is no flood. */
  const asked = new Set<number>()
  /** By the arguments of the call. */
  const results = new Map<unknown, CallResult>()
  const [reported, others] = [createBucket(), createBucket()]

  /** Says whether a message is heard. */
  function spend (bytes: number, isReport: boolean): boolean {
    const count = Math.max(1, bytes / bytesOfOne)
    const left = (isReport ? reported : others)(count)
    const flood = count > 1 ? `${perSecond * bytesOfOne} bytes` : `${perSecond} messages`
    if (left < (isReport ? -mostLeftOut : 0)) throw new ServerFault(`it sends more than ${flood} a second that nobody asked for`)
    return left >= 0
  }

  function ask (id: number): void {
    const [first] = asked
    if (asked.size >= mostAsked && first !== undefined) asked.delete(first)
    asked.add(id)
  }

  async function inThread (bytes: Buffer): Promise<ReadMessage | undefined> {
    const own = Uint8Array.from(bytes)
    return await threads.run<ReadMessage | undefined>(
      { kind: 'message', task: { bytes: own, secrets } satisfies MessageTask }, { ms: maxMs, owner, signal, move: movable(own) }
    )
  }

  async function inTurn (bytes: Buffer): Promise<ReadMessage | undefined> {
    const part = Math.max(1 / ofTurn.messages, bytes.length / ofTurn.bytes)
    return await turns.run(owner, part, () => readMessage(bytes.toString('utf8'), secrets), signal)
  }

  return {
    sent (message) {
      if (!('method' in message) || !('id' in message)) return
      ask(Number(message.id))
      if (message.method === 'tools/call') awaited.set(Number(message.id), message.params?.['arguments'])
    },
    async read (bytes) {
      const read = await (bytes.length <= shortMessage ? inTurn(bytes) : inThread(bytes))
      const { message, call } = read ?? {}
      // As the client reads it: servers turn numbers into texts.
      const id = message?.['method'] === undefined ? Number(message?.['id']) : undefined
      const args = awaited.get(id)
      awaited.delete(id)
      const isHeard = (id !== undefined && asked.delete(id)) || spend(bytes.length, reports.has(message?.['method']))
      if (!isHeard) return null
      if (call !== undefined && args !== undefined) results.set(args, call)
      return message === undefined ? undefined : unchecked(message)
    },
    endCall (args) {
      for (const [id, of] of awaited) if (of === args) awaited.delete(id)
      const result = results.get(args)
      results.delete(args)
      return result
    }
  }
}

/** Takes a number of tokens, and says how many are left: fewer than none where there were too few. */
function createBucket (): (count: number) => number {
  let tokens = burst
  let filledAt = performance.now()
  return count => {
    const now = performance.now()
    tokens = Math.min(burst, tokens + (now - filledAt) / 1_000 * perSecond) - count
    filledAt = now
    return tokens
  }
}

/** The client checks each message before it uses it. */
function unchecked (message: Record<string, unknown>): JSONRPCMessage {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- See above.
  return message as unknown as JSONRPCMessage
}

const newline = 0x0a

/** The lines of what a server sends, so many of one turn of the event loop. @throws ServerFault for one that is too long. */
export async function * linesOf (
  stream: AsyncIterable<Uint8Array>, { maxBytes, perTurn }: { maxBytes: number, perTurn: number }
): AsyncGenerator<Buffer> {
  let open = createCapture(maxBytes)
  let count = 0
  const add = (part: Buffer): void => {
    open.add(part)
    if (open.totalBytes() > maxBytes) throw tooLong(maxBytes)
  }
  for await (const { buffer, byteOffset, length } of stream) {
    const chunk = Buffer.from(buffer, byteOffset, length)
    let start = 0
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, start)) {
      add(chunk.subarray(start, at))
      const line = open.read().kept
      open = createCapture(maxBytes)
      start = at + 1
      if (++count % perTurn === 0) await turn()
      yield line
    }
    add(chunk.subarray(start))
  }
}
