import { errorCode, isRecord, thrownAs } from '@toolyard/contract/terms'
import { setImmediate as turn } from 'node:timers/promises'
import { AddressRefusedError, isListedHost, openConnections } from '@toolyard/runtime/outgoing'
import { createCapture, shortageError, shortageOf } from '@toolyard/sandbox'
import { fetch, type RequestInit } from 'undici'
import type { HttpPolicy } from '../run/tool-call.ts'
import { ServerFault, UnsentFault, tooLong, type MessageReader } from './message-reader.ts'

export interface GuardedFetch {
  fetch: (url: string | URL, init?: globalThis.RequestInit) => Promise<Response>
  close (): Promise<void>
}

const newline = 0x0a
const colon = 0x3a
/** Lines of one turn of the event loop. */
const perTurn = 8
const nothing = Buffer.alloc(0)

/**
 * Makes a `fetch` for one server: only to its own origin, to public addresses unless the operator says otherwise, and
 * with bounded messages. A redirect to another origin fails before anything is sent there.
 *
 * @throws ServerFault for a URL that may not be reached.
 */
export function createGuardedFetch (
  url: string, { privateHosts, lookup }: HttpPolicy, { reader, maxBytes, onFault, textOf }: Reading & Faults
): GuardedFetch {
  const { origin, protocol, hostname } = new URL(url)
  const allowPrivate = isListedHost(privateHosts, hostname)
  if (protocol === 'http:' && !allowPrivate) throw new ServerFault('http:// is for hosts of HTTP_PRIVATE_HOSTS; others need https://')
  const connections = openConnections({ allowPrivate, ...lookup === undefined ? {} : { lookup } })
  return {
    async fetch (target, init) {
      const to = new URL(target)
      if (to.origin !== origin) throw new ServerFault('it redirects to another origin')
      try {
        connections.checkHost(to.hostname)
        // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- The SDK gives the same in types of the browser's fetch.
        const response = await fetch(to, { ...init as unknown as RequestInit, ...(typeof init?.body === 'string' ? { body: textOf(init.body) } : {}), dispatcher: connections.dispatcher })
        const headers = [...response.headers]
        const type = response.headers.get('content-type') ?? ''
        const asked: Asked = { id: idIn(init?.body), isAnswered: false, isResumable: false }
        if (response.status === 202 && asked.id !== undefined) return Response.json(unanswered(asked))
        if (response.body === null) return new Response(null, { status: response.status, headers })
        const body = type.includes('text/event-stream')
          ? answered(readEvents(response.body as AsyncIterable<Uint8Array>, { reader, maxBytes, asked }), asked)
          : readWhole(response.body as AsyncIterable<Uint8Array>, { reader, maxBytes })
        const kept = headers.filter(([name]) => !['content-encoding', 'content-length'].includes(name))
        return new Response(streamOf(body, onFault), { status: response.status, statusText: response.statusText, headers: kept })
      } catch (error) {
        const refusal = thrownAs(error, AddressRefusedError)
        if (refusal !== undefined) throw new ServerFault(`${refusal.message}; HTTP_PRIVATE_HOSTS names hosts inside`)
        const why = connectFault(error)
        if (why === undefined) throw error
        const shortage = shortageError(why, 'open a connection')
        const fault = new UnsentFault(`it can't be reached: ${why}`, shortageOf(shortage) === undefined ? undefined : shortage)
        // It is opened anew, after a rest: what it has become in the meantime is not known.
        onFault(fault.message)
        throw fault
      }
    },
    close: async () => { await connections.close() }
  }
}

/** Why no connection came about; undefined for an error of one that did. */
function connectFault (error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause
  const code = errorCode(first)
  const syscall = isRecord(first) ? first['syscall'] : undefined
  return syscall === 'connect' || syscall === 'getaddrinfo' || code === 'UND_ERR_CONNECT_TIMEOUT' ? code : undefined
}

interface Faults {
  /** What is sent in place of a message that the client has written. */
  textOf: (json: string) => string
  /** Gets the reason why something that a server sent can't be read. */
  onFault: (reason: string) => void
}

interface Reading {
  reader: MessageReader
  maxBytes: number
}

interface Asked {
  /** Absent for what needs no answer. */
  id: unknown
  isAnswered: boolean
  /** The server names events, so that the client can ask for those that are missing. */
  isResumable: boolean
}

function idIn (body: unknown): unknown {
  if (typeof body !== 'string' || !body.startsWith('{')) return undefined
  const message: unknown = JSON.parse(body)
  return typeof message === 'object' && message !== null && 'id' in message && 'method' in message ? message.id : undefined
}

function unanswered ({ id }: Asked): object {
  return { jsonrpc: '2.0', id, error: { code: -32_000, message: 'the server ended the connection without an answer' } }
}

/** A stream that ends or breaks off before its answer fails the request: the client would wait until its time is over. */
async function * answered (events: AsyncGenerator<Uint8Array>, asked: Asked): AsyncGenerator<Uint8Array> {
  const isLost = (): boolean => asked.id !== undefined && !asked.isAnswered && !asked.isResumable
  try {
    yield * events
  } catch (error) {
    if (error instanceof ServerFault || !isLost()) throw error
  }
  if (isLost()) yield Buffer.from(`\ndata: ${JSON.stringify(unanswered(asked))}\n\n`)
}

/** Bytes of a body that is no message: the client takes it apart, or says what it is. */
const mostForeign = 65_536

/** The body of one message. Another body passes as it is, up to a bound. */
async function * readWhole (body: AsyncIterable<Uint8Array>, { reader, maxBytes }: Reading): AsyncGenerator<Uint8Array> {
  const read = createCapture(maxBytes)
  for await (const chunk of body) {
    read.add(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length))
    if (read.totalBytes() > maxBytes) throw tooLong(maxBytes)
  }
  const whole = read.read().kept
  const message = await reader.read(whole)
  yield message === undefined ? whole.subarray(0, mostForeign) : Buffer.from(JSON.stringify(message))
}

/** The events of a stream, line by line: the data of each is a message. */
async function * readEvents (
  body: AsyncIterable<Uint8Array>, { reader, maxBytes, asked }: Reading & { asked: Asked }
): AsyncGenerator<Uint8Array> {
  // `bytes` bounds what both keep.
  let open = createCapture(Infinity)
  let bytes = 0
  /** Each line of it begins with a newline. */
  let data = createCapture(Infinity)
  const take = async (line: Buffer): Promise<Buffer | undefined> => {
    const text = line.at(-1) === 0x0d ? line.subarray(0, -1) : line
    if (text.subarray(0, 5).toString('latin1') === 'data:') {
      data.add(Buffer.of(newline))
      data.add(text.subarray(text[5] === 0x20 ? 6 : 5))
      return undefined
    }
    // Nothing but comments, or empty events, is a flood like any other.
    if (text[0] === colon) {
      await reader.read(nothing)
      return undefined
    }
    if (text.subarray(0, 3).toString('latin1') === 'id:') asked.isResumable = true
    if (text.length > 0) return Buffer.concat([text, Buffer.of(newline)])
    const whole = data.read().kept.subarray(1)
    bytes = 0
    data = createCapture(Infinity)
    const message: { id?: unknown, method?: unknown } | undefined = await reader.read(whole)
    if (message !== undefined && message.id === asked.id && message.method === undefined) asked.isAnswered = true
    return message === undefined ? Buffer.of(newline) : Buffer.from(`data: ${JSON.stringify(message)}\n\n`)
  }
  let lines = 0
  for await (const chunk of body) {
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    bytes += buffer.length
    if (bytes > maxBytes) throw tooLong(maxBytes)
    let start = 0
    for (let at = buffer.indexOf(newline); at !== -1; at = buffer.indexOf(newline, start)) {
      open.add(buffer.subarray(start, at))
      const line = open.read().kept
      open = createCapture(Infinity)
      start = at + 1
      if (++lines % perTurn === 0) await turn()
      const passed = await take(line)
      if (passed !== undefined) yield passed
    }
    open.add(buffer.subarray(start))
  }
}

function streamOf (body: AsyncGenerator<Uint8Array>, onFault: Faults['onFault']): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull (controller) {
      try {
        const next = await body.next()
        if (next.done === true) controller.close()
        else controller.enqueue(next.value)
      } catch (error) {
        controller.error(error)
        if (error instanceof ServerFault) onFault(error.message)
      }
    },
    async cancel () { await body.return(undefined) }
  })
}
