import type { JSONRPCErrorResponse, RequestId } from '@modelcontextprotocol/client'
import { createCapture } from '@toolyard/runtime'
import { linesOf, tooLong, type MessageReader } from './message-reader.ts'

/*
 * A server's answers over HTTP, message by message: each one is read, and the client gets what is left of it.
 */

const newline = 0x0a
const colon = 0x3a
/** Lines of one turn of the event loop. */
const perTurn = 8
const nothing = Buffer.alloc(0)

export interface Reading {
  reader: MessageReader
  maxBytes: number
  /** Gets the id of each request that was answered. */
  onAnswer: (id: unknown) => void
}

/** Bytes of a body that is no message: the client takes it apart, or says what it is. */
const mostForeign = 65_536

/** For the client, in place of an answer that doesn't come. */
export function unanswered (id: RequestId): JSONRPCErrorResponse {
  return { jsonrpc: '2.0', id, error: { code: -32_000, message: 'the server ended the connection without an answer' } }
}

/** The body of one message, which should answer the request with this id. Another body passes as it is, up to a bound. */
export async function * readWhole (
  body: AsyncIterable<Uint8Array>, { reader, maxBytes, onAnswer }: Reading, id?: RequestId
): AsyncGenerator<Uint8Array> {
  const read = createCapture(maxBytes)
  for await (const chunk of body) {
    read.add(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length))
    if (read.totalBytes() > maxBytes) throw tooLong(maxBytes)
  }
  const whole = read.read().kept
  const message: ReadMessage | null | undefined = await reader.read(whole)
  if (id !== undefined) onAnswer(id)
  const isOther = id !== undefined && (!isAnswer(message) || String(message.id) !== String(id))
  yield message === undefined ? whole.subarray(0, mostForeign) : Buffer.from(JSON.stringify(isOther ? unanswered(id) : message))
}

/** The other lines that the client gets. It would take what stands behind a carriage return for a line, and for a message. */
const passed = /^(?:id|retry):[^\r]*$/
const mostPassed = 1_024

/** The events of a stream, line by line: the data of each is a message. */
export async function * readEvents (body: AsyncIterable<Uint8Array>, { reader, maxBytes, onAnswer }: Reading): AsyncGenerator<Uint8Array> {
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
    if (text.length > 0) return text.length <= mostPassed && passed.test(text.toString('latin1')) ? Buffer.concat([text, Buffer.of(newline)]) : undefined
    const whole = data.read().kept.subarray(1)
    bytes = 0
    data = createCapture(Infinity)
    const message: ReadMessage | null | undefined = await reader.read(whole)
    if (isAnswer(message)) onAnswer(message.id)
    // An event without data counts too: its id is where the client goes on when the stream ends.
    return Buffer.from(`data:${message == null ? '' : JSON.stringify(message)}\n\n`)
  }
  for await (const line of linesOf(body, { maxBytes, perTurn })) {
    bytes += line.length
    if (bytes > maxBytes) throw tooLong(maxBytes)
    const taken = await take(line)
    if (taken !== undefined) yield taken
  }
}

interface ReadMessage {
  id?: unknown
  method?: unknown
}

function isAnswer (message: ReadMessage | null | undefined): message is ReadMessage {
  return message != null && message.method === undefined
}
