import { Buffer } from 'node:buffer'
import { mcpDigest } from '@toolyard/contract/mcp-digest'
import { around, isMcpTool, isRecord, listedTool, mcpToolFault, mostMcpTools, orElse, writeJson, firstChars } from '@toolyard/contract/terms'
import { parseJson, partsOf } from '../../run/json.ts'
import { movable, type ThreadAnswer } from '@toolyard/runtime/threads'
import { hiddenIn } from './setting-text.ts'

/** Stands in place of the result itself. */
export interface CallResult {
  isError: boolean
  /** The whole of an error that has more than a text, as JSON. */
  details?: string
  /** The output as JSON in UTF-8, and its objects, lists and fields. */
  json: Uint8Array
  parts: number
  /** Where images or links stand beside what is structured: both. */
  whole?: Pick<CallResult, 'json' | 'parts'>
  /** A server of 2026 asks something first: its result, where texts have no secrets but for its state. */
  asks?: Record<string, unknown>
}

/** A message of a server, for a thread. */
export interface MessageTask {
  bytes: Uint8Array
  /** Values that nobody must be told. */
  secrets: readonly string[]
}

/** A message of a server. The result of a call is taken out into `call`, and an empty one stays in the message. */
export interface ReadMessage {
  message: Record<string, unknown>
  call?: CallResult
}

/** Values of what is no result of a call: the client walks through all of it, in one turn. */
const mostValues = 5_000
/** UTF-16 units of what a server asks for: a question may hold less. */
const mostAskedChars = 131_072
/** UTF-16 units of an error up to which its data is passed on: it is walked through in one turn. */
const mostErrorChars = 16_384

/**
 * Reads a message, without secrets in the result of a call; undefined for a text that isn't one. The client gets the fields that the
 * protocol has and no others: it walks through whatever it is given.
 */
export function readMessage (text: string, secrets: readonly string[]): ReadMessage | undefined {
  // Floods are of these.
  if (text === '') return undefined
  const parsed = parseJson(text)
  if (parsed === undefined) return unfitMessage(text)
  if (!isRecord(parsed.value)) return undefined
  const { jsonrpc, id, method, params } = parsed.value
  if (method === undefined) return isId(id) ? answerOf(id, parsed.value, { secrets, chars: text.length }) : undefined
  if (jsonrpc !== '2.0' || typeof method !== 'string' || (id !== undefined && !isId(id))) return undefined
  const isBounded = holdsFew(params) && (id === undefined || text.length <= mostAskedChars)
  return { message: { jsonrpc, ...id !== undefined && { id }, method, params: isBounded ? params : undefined } }
}

type Id = string | number

function isId (id: unknown): id is Id {
  return typeof id === 'string' || typeof id === 'number'
}

/** Whether the client may walk through a value in one turn. */
function holdsFew (value: unknown): boolean {
  return valuesOf(value, mostValues) <= mostValues
}

/** Counting ends at the first one beyond `most`. */
function valuesOf (value: unknown, most: number): number {
  let count = 1
  if (typeof value !== 'object' || value === null) return count
  for (const item of Object.values(value)) {
    if (count > most) break
    count += valuesOf(item, most - count)
  }
  return count
}

/**
 * An answer as the client takes one, which waits on for any other: servers leave `jsonrpc` out, write null for the one of `result`
 * and `error` that they don't mean, and a text as the error.
 */
function answerOf (
  id: Id, { result, error }: Record<string, unknown>, { secrets, chars }: { secrets: readonly string[], chars: number }
): ReadMessage {
  if (isRecord(result) && (error === undefined || error === null)) return resultOf(id, result, secrets)
  const what = result === null ? 'null' : result === undefined ? 'missing' : 'no object'
  if (error === undefined || error === null) return { message: failed(id, `its result is ${what}`) }
  if (isRecord(error) && Number.isSafeInteger(error['code']) && typeof error['message'] === 'string') {
    const { code, message, data } = error
    return { message: { jsonrpc: '2.0', id, error: { code, message, data: chars > mostErrorChars ? undefined : data } } }
  }
  return { message: failed(id, `its error is none of JSON-RPC: ${firstChars(writeJson(hiddenIn(error, secrets)), mostErrorShown)}`) }
}

function resultOf (id: Id, result: Record<string, unknown>, secrets: readonly string[], look = lookedAt): ReadMessage {
  const { content, structuredContent: structured } = result
  const resultType = typeof result['resultType'] === 'string' ? { resultType: result['resultType'] } : {}
  const tools = result['tools'] === null ? [] : result['tools']
  if (Array.isArray(tools)) return { message: { jsonrpc: '2.0', id, result: listOf(tools.slice(0, mostMcpTools + 1).map(tool => look(tool)), result['nextCursor'], resultType) } }
  if (resultType.resultType === 'input_required' && holdsFew(result)) return askingOf(id, result, secrets)
  if (!Array.isArray(content) && structured === undefined) {
    return { message: holdsFew(result) ? { jsonrpc: '2.0', id, result } : failed(id, `it holds more than ${mostValues} values`) }
  }
  const isError = result['isError'] ?? false
  if (typeof isError !== 'boolean') return { message: failed(id, 'its isError is neither true nor false') }
  const whole = isError ? undefined : wholeOf(result)
  const hasDetails = isError && structured !== undefined && structured !== null
  return {
    message: { jsonrpc: '2.0', id, result: { ...resultType, content: [] } },
    call: {
      isError,
      ...hasDetails ? { details: writeJson(hiddenIn(structured, secrets)) } : {},
      ...written(outputOf(result), secrets),
      ...whole === undefined ? {} : { whole: written(whole, secrets) }
    }
  }
}

function written (output: unknown, secrets: readonly string[]): Pick<CallResult, 'json' | 'parts'> {
  const shown = hiddenIn(output, secrets)
  return { json: Buffer.from(writeJson(shown)), parts: partsOf(shown) }
}

/** The client knows no such result of a call where it doesn't answer by itself. */
function askingOf (id: Id, { inputRequests, requestState }: Record<string, unknown>, secrets: readonly string[]): ReadMessage {
  const hiddenRequests = inputRequests !== undefined && { inputRequests: hiddenIn(inputRequests, secrets) }
  const asks = { ...hiddenRequests, ...requestState !== undefined && { requestState } }
  const call = { isError: false, json: Buffer.from('null'), parts: 0, asks }
  return { message: { jsonrpc: '2.0', id, result: { resultType: 'complete', content: [] } }, call }
}

/** UTF-16 units of an error without a form. */
const mostErrorShown = 1_000

/**
 * The client refuses a whole list for one odd tool, and walks through all of them in one turn. So it gets tools that hold as texts what
 * becomes of those that the server sent.
 */
function listOf (tools: readonly SentTool[], nextCursor: unknown, resultType: { resultType?: string }): Record<string, unknown> {
  const wrapped = tools.map((sent, index) => ({ name: String(index), inputSchema: { type: 'object' }, _meta: { [sentTool]: sent } }))
  // A list of 2026 has these; how long it is kept is decided here.
  const fields = resultType.resultType === undefined ? {} : { ...resultType, ttlMs: 0, cacheScope: 'private' }
  return { tools: wrapped, ...typeof nextCursor === 'string' && { nextCursor }, ...fields }
}

/** A tool of a list that was looked at here: it can be served, or why not. */
export type SentTool = { name: string, digest: string, /** The tool. */ json: string } | { shown: string, fault: string }

function lookedAt (sent: unknown): SentTool {
  const tool = withoutNulls(sent)
  const fault = mcpToolFault(tool)
  if (fault !== undefined || !isMcpTool(tool)) return { shown: nameOf(tool), fault: fault ?? '' }
  const listed = listedTool(tool)
  return { name: listed.name, digest: mcpDigest(listed), json: JSON.stringify(listed) }
}

/** UTF-16 units of a name in a message. */
const shownChars = 200

function nameOf (tool: unknown): string {
  const name = isRecord(tool) ? tool['name'] : undefined
  return typeof name === 'string' && name !== '' ? JSON.stringify(name.slice(0, shownChars)) : 'without a name'
}

/** Languages write null for what is left out. */
function withoutNulls (tool: unknown): unknown {
  if (!isRecord(tool)) return tool
  return Object.fromEntries(Object.entries(tool).filter(([name, value]) => value !== null || name === 'inputSchema'))
}

/** The field of a tool of a list that was read here. */
export const sentTool = 'toolyard/sent'

/** The code of an answer that can't be taken for one. */
export const unfitAnswer = -32_803

function failed (id: unknown, why: string): Record<string, unknown> {
  return { jsonrpc: '2.0', id, error: { code: unfitAnswer, message: why } }
}

/** Reads a large message, for a thread: a megabyte of small objects takes a tenth of a second. */
export function runMessageTask ({ bytes, secrets }: MessageTask): ThreadAnswer {
  const answer = readMessage(Buffer.from(bytes).toString('utf8'), secrets)
  return { answer, move: answer?.call === undefined ? [] : movable(answer.call.json) }
}

/**
 * The output of a call: what is structured, else the parts as they are where one is no text (an image, a link), else
 * their texts, a line break between two. What went wrong is a text.
 */
function outputOf (result: Record<string, unknown>): unknown {
  const { structuredContent, content } = result
  const blocks: unknown[] = Array.isArray(content) ? content : []
  const texts = blocks.map(block => isRecord(block) && block['type'] === 'text' && typeof block['text'] === 'string' ? block['text'] : undefined)
  if (result['isError'] === true) return texts.filter(text => text !== undefined).join('\n')
  if (structuredContent !== undefined && structuredContent !== null) return structuredContent
  if (texts.includes(undefined)) return around({ content: blocks })
  return texts.join('\n')
}

/** What is structured, and what stands beside it where some of that is no text. Texts are what is structured once more. */
function wholeOf ({ structuredContent, content }: Record<string, unknown>): unknown {
  if (structuredContent === undefined || structuredContent === null || !Array.isArray(content)) return undefined
  const blocks = (content as unknown[]).filter(block => isRecord(block) && block['type'] !== 'text')
  return blocks.length === 0 ? undefined : around({ content: blocks, structuredContent })
}

/** A text that is no JSON, or not for us, still answers somebody who waits; of a list, tools that can't be read are left out. */
function unfitMessage (text: string): ReadMessage | undefined {
  try {
    const message: unknown = JSON.parse(text)
    if (!isRecord(message) || !isId(message['id']) || message['method'] !== undefined) return undefined
    const { id, result } = message
    return isRecord(result) && Array.isArray(result['tools']) ? resultOf(id, result, [], readAlone) : { message: failed(id, `${unreadable}: a text would hold it`) }
  } catch {
    const id = /^\s*\{(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?\s*"id"\s*:\s*(\d{1,15}|"\d{1,15}")\s*,/.exec(text)?.[1] ?? /"id"\s*:\s*(\d{1,15}|"\d{1,15}")\s*\}\s*$/.exec(text.slice(-shownEnd))?.[1]
    return id === undefined ? undefined : { message: failed(JSON.parse(id), notJson(text)) }
  }
}

const unreadable = 'it nests too deeply, or holds a number that is too large'

function readAlone (tool: unknown): SentTool {
  const read = orElse(() => parseJson(JSON.stringify(tool)), undefined)
  return read === undefined ? { shown: nameOf(tool), fault: unreadable } : lookedAt(read.value)
}

/** UTF-16 units of the end of a text in which its id may stand. */
const shownEnd = 100

function notJson (text: string): string {
  const number = /[[:,]\s*(-?(?:NaN|Infinity))\b/.exec(text)?.[1]
  return number === undefined ? 'it is no JSON' : `it is no JSON: it holds ${number}`
}
