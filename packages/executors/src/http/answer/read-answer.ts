import { STATUS_CODES } from 'node:http'
import type { Dispatcher } from 'undici'
import { readLargeOutput, shortOutput, type OutputReading } from '../../result/large-output.ts'
import { byteForms } from '../../result/hidden-bytes.ts'
import { withoutTexts } from '../../result/hidden-texts.ts'
import { compared, hiderOf, placesOf } from '../../result/hider.ts'
import { runOutputTask, type OutputTask } from '../../result/output-task.ts'
import { storedOutput } from '../../result/stored-file.ts'
import { shownChars } from '../../result/stream-end.ts'
import { decodeText, jsonType } from '../../run/decode-text.ts'
import { failure, type Outcome, type SessionPlace } from '../../run/outcome.ts'
import { foreignPlaces } from '../../run/foreign-bytes.ts'
import { readBounded, type BoundedBody } from '@toolyard/runtime/outgoing'
import { bufferOf } from '@toolyard/runtime/threads'
import { decodePrefix, lastChars } from '../../run/utf8.ts'
import { decodedBody } from './decoded-body.ts'
import { header, headerChars } from './response-head.ts'

export interface AnswerReading extends OutputReading {
  maxOutputBytes: number
  hidden: readonly string[]
  /** The session of the call: what is no text becomes a file of it. */
  session: SessionPlace | undefined
}

/** An answer as the caller gets it, and how much of it was read. */
export interface AnswerRead {
  outcome: Outcome
  bytes: number
  truncated: boolean
}

/** Bytes of an error's body that are read for its end. */
const errorBytes = 65_536
const textType = /^(?:text\/|application\/(?:[\w.+-]+\+)?(?:xml|yaml|x-ndjson|javascript|graphql|x-www-form-urlencoded)\b|image\/svg\+xml\b)/i
/** Headers that say what to do about a failure. */
const tellingHeaders = ['retry-after', 'allow', 'location', 'x-request-id', 'x-ratelimit-reset']

/**
 * The answer of an API as the outcome of its tool: JSON as its value, text as text, an empty body as `{}`, anything else
 * as a file of the session. A status of 300 and more is `TOOL_FAILED` with the end of the body.
 */
export async function readAnswer (response: Dispatcher.ResponseData, reading: AnswerReading): Promise<AnswerRead> {
  const failed = response.statusCode >= 300
  const most = failed ? Math.min(errorBytes, reading.maxOutputBytes) : reading.maxOutputBytes
  const read = await readBounded(decodedBody(response.body, withoutTexts(header(response, 'content-encoding'), reading.hidden)), most)
  const about = { bytes: read.bytes.length, truncated: read.truncated }
  const body = read.truncated ? { ...read, bytes: withoutBegunText(read.bytes, reading.hidden) } : read
  return { outcome: failed ? errorOf(response, body, reading.hidden) : await outputOf(response, body, reading), ...about }
}

async function outputOf (response: Dispatcher.ResponseData, body: BoundedBody, reading: AnswerReading): Promise<Outcome> {
  const contentType = header(response, 'content-type')
  if (body.bytes.length === 0) return { ok: true, output: {} }
  if (!isText(body, contentType)) {
    return await binaryAnswer(body, contentType === '' ? 'binary' : withoutTexts(contentType, reading.hidden).slice(0, headerChars), reading)
  }
  // JSON that was cut off can't be parsed: its text is the output.
  const kept = body.truncated ? body.bytes.subarray(0, decodePrefix(body.bytes).bytes) : body.bytes
  // A thread takes the bytes away.
  const storedBytes = kept.length
  const isJson = !body.truncated && !textType.test(contentType)
  const task: OutputTask = { bytes: kept, kind: isJson ? 'either' : 'text', hide: reading.hidden, contentType }
  const outcome = storedBytes <= shortOutput ? shortOutcome(task) : await readLargeOutput(task, reading)
  if (!outcome.ok || !body.truncated) return outcome
  const announced = Number(header(response, 'content-length'))
  // Without a length from the server, it is known to be one byte longer at least.
  return { ...outcome, cut: { bytes: Math.max(storedBytes + 1, Number.isSafeInteger(announced) ? announced : 0), storedBytes } }
}

async function binaryAnswer ({ bytes, truncated }: BoundedBody, type: string, { hidden, session }: AnswerReading): Promise<Outcome> {
  const what = `the answer is ${type}, which is neither JSON nor text`
  if (truncated) return failure('OUTPUT_INVALID', `${what}, and longer than the ${bytes.length} bytes that are kept: raise MAX_OUTPUT_BYTES, or limits.outputBytes of the entry`)
  return await storedOutput({ what, bytes, fileName: 'output.bin' }, { session, secretForms: hidden })
}

function shortOutcome (task: OutputTask): Outcome {
  const { json, parts } = runOutputTask(task).answer
  return { ok: true, output: undefined, ...json !== undefined && { json: bufferOf(json) }, parts }
}

/**
 * Text by its type; anything else is text when it can be read as such. A few foreign bytes are forgiven where the type says
 * JSON or nothing: a PDF that is nearly text would be spoiled.
 */
function isText ({ bytes, truncated }: BoundedBody, contentType: string): boolean {
  if (textType.test(contentType) || /charset=/i.test(contentType)) return true
  if (bytes.includes(0)) return false
  const places = foreignPlaces(truncated ? bytes.subarray(0, decodePrefix(bytes).bytes) : bytes)
  return contentType === '' || jsonType.test(contentType) ? places !== undefined : places === 0
}

function errorOf (response: Dispatcher.ResponseData, body: BoundedBody, hidden: readonly string[]): Outcome {
  const { statusCode: status } = response
  const contentType = header(response, 'content-type')
  const said = isText(body, contentType) ? lastChars(withoutTexts(decodeText(body.bytes, contentType), hidden).trim(), shownChars) : ''
  const headers = tellingHeaders.flatMap(name => {
    const value = header(response, name)
    return value === '' ? [] : [[name, withoutTexts(value, hidden).slice(0, headerChars)] as const]
  })
  const reason = STATUS_CODES[status] === undefined ? '' : ` ${STATUS_CODES[status]}`
  return {
    ok: false,
    error: {
      code: 'TOOL_FAILED',
      message: `the API answered ${status}${reason}${said === '' ? '' : `: ${said}`}`,
      details: { status, ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }) }
    }
  }
}

/**
 * Without the end that may hold the beginning of a hidden text. It is left out whatever it is: who chooses the text would hear
 * whether a hidden one begins so.
 */
function withoutBegunText (bytes: Buffer, hidden: readonly string[]): Buffer {
  const forms = byteForms(hidden)
  const longest = forms.reduce((most, { length }) => Math.max(most, length), 0)
  if (longest === 0) return bytes
  const from = Math.max(0, bytes.length - longest - compared)
  const end = bytes.subarray(from).toString('latin1')
  const kept = Math.max(0, end.length - Math.min(longest, compared) + 1)
  const [start = kept] = placesOf(end, hiderOf(forms)).find(place => place[1] > kept) ?? []
  return bytes.subarray(0, from + Math.min(kept, start))
}
