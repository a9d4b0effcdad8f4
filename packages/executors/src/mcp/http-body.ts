import { createCapture } from '@toolyard/sandbox'
import { ServerFault, linesOf, tooLong, type MessageReader } from './message-reader.ts'

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

export interface Asked {
  /** Absent for what needs no answer. */
  id: unknown
  isAnswered: boolean
  /** The server names events, so that the client can ask for those that are missing. */
  isResumable: boolean
}

/** For the client, in place of an answer that doesn't come. */
export function unanswered (id: unknown): object {
  return { jsonrpc: '2.0', id, error: { code: -32_000, message: 'the server ended the connection without an answer' } }
}

/** Reads the body of an answer; `asked` is there for a stream of events. */
export function messageBody (body: AsyncIterable<Uint8Array>, reading: Reading, asked: Asked | undefined): AsyncGenerator<Uint8Array> {
  return asked === undefined ? readWhole(body, reading) : answered(readEvents(body, { ...reading, asked }), asked)
}

/** A stream that ends or breaks off before its answer fails the request: the client would wait until its time is over. */
async function * answered (events: AsyncGenerator<Uint8Array>, asked: Asked): AsyncGenerator<Uint8Array> {
  const isLost = (): boolean => asked.id !== undefined && !asked.isAnswered && !asked.isResumable
  try {
    yield * events
  } catch (error) {
    if (error instanceof ServerFault || !isLost()) throw error
  }
  if (isLost()) yield Buffer.from(`\ndata: ${JSON.stringify(unanswered(asked.id))}\n\n`)
}

/** Bytes of a body that is no message: the client takes it apart, or says what it is. */
const mostForeign = 65_536

/** The body of one message. Another body passes as it is, up to a bound. */
async function * readWhole (body: AsyncIterable<Uint8Array>, { reader, maxBytes, onAnswer }: Reading): AsyncGenerator<Uint8Array> {
  const read = createCapture(maxBytes)
  for await (const chunk of body) {
    read.add(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length))
    if (read.totalBytes() > maxBytes) throw tooLong(maxBytes)
  }
  const whole = read.read().kept
  const message: ReadMessage | undefined = await reader.read(whole)
  if (isAnswer(message)) onAnswer(message.id)
  yield message === undefined ? whole.subarray(0, mostForeign) : Buffer.from(JSON.stringify(message))
}

/** The events of a stream, line by line: the data of each is a message. */
async function * readEvents (
  body: AsyncIterable<Uint8Array>, { reader, maxBytes, onAnswer, asked }: Reading & { asked: Asked }
): AsyncGenerator<Uint8Array> {
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
    const message: ReadMessage | undefined = await reader.read(whole)
    if (isAnswer(message)) {
      if (message.id === asked.id) asked.isAnswered = true
      onAnswer(message.id)
    }
    return message === undefined ? Buffer.of(newline) : Buffer.from(`data: ${JSON.stringify(message)}\n\n`)
  }
  for await (const line of linesOf(body, { maxBytes, perTurn })) {
    bytes += line.length
    if (bytes > maxBytes) throw tooLong(maxBytes)
    const passed = await take(line)
    if (passed !== undefined) yield passed
  }
}

interface ReadMessage {
  id?: unknown
  method?: unknown
}

function isAnswer (message: ReadMessage | undefined): message is ReadMessage {
  return message !== undefined && message.method === undefined
}
