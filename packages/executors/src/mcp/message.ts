import { Buffer } from 'node:buffer'
import { isRecord } from '@toolyard/contract/terms'
import { parseJson, partsOf } from '../run/json.ts'
import type { ThreadAnswer } from '../run/threads.ts'

/** What the result of a call came to, in place of the result itself. */
export interface CallResult {
  isError: boolean
  /** The output as JSON, and its objects, lists and fields. */
  json: string
  parts: number
}

/** A message of a server, for a thread. */
export interface MessageTask {
  bytes: Uint8Array
}

/** A message of a server. The result of a call is taken out into `call`, and an empty one stays in the message. */
export interface ReadMessage {
  message: Record<string, unknown>
  call?: CallResult
}

/** UTF-16 units of an error up to which its data is passed on: it is walked through in one turn. */
const mostErrorChars = 16_384

/** Reads a message; undefined for a text that isn't one. */
export function readMessage (text: string): ReadMessage | undefined {
  const parsed = parseJson(text)
  if (parsed === undefined) return unfitMessage(text)
  const message = parsed.value
  if (!isRecord(message) || message['jsonrpc'] !== '2.0') return undefined
  const { result, error } = message
  if (isRecord(error) && error['data'] !== undefined && text.length > mostErrorChars) return { message: { ...message, error: { ...error, data: undefined } } }
  if (!isRecord(result) || (!Array.isArray(result['content']) && result['structuredContent'] === undefined)) return { message }
  const output = outputOf(result)
  const { content: _, structuredContent: __, ...rest } = result
  return { message: { ...message, result: { ...rest, content: [] } }, call: { isError: result['isError'] === true, json: JSON.stringify(output), parts: partsOf(output) } }
}

/** Reads a large message, for a thread: a megabyte of small objects takes a tenth of a second. */
export function runMessageTask ({ bytes }: MessageTask): ThreadAnswer {
  return { answer: readMessage(Buffer.from(bytes).toString('utf8')) }
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
  if (texts.includes(undefined)) return { content: blocks }
  return texts.join('\n')
}

/** A text that is JSON, but not for us, still answers somebody who waits. */
function unfitMessage (text: string): ReadMessage | undefined {
  try {
    const message: unknown = JSON.parse(text)
    if (!isRecord(message) || message['id'] === undefined || message['method'] !== undefined) return undefined
    return { message: { jsonrpc: '2.0', id: message['id'], error: { code: -32_603, message: 'the answer nests too deeply, or holds a number that is too large' } } }
  } catch {
    return undefined
  }
}
