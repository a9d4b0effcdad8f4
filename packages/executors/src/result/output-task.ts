import { Buffer } from 'node:buffer'
import { writeJson } from '@toolyard/contract/terms'
import { movable, type ThreadAnswer } from '@toolyard/runtime/threads'
import { decodeText } from '../run/decode-text.ts'
import { parseJson, partsOf } from '../run/json.ts'
import { withoutTexts, withoutTextsIn } from './hidden-texts.ts'

/** A large output: plain data, for a thread. */
export interface OutputTask {
  bytes: Uint8Array
  /** `value`: JSON; `either`: JSON if it is that, else text without the white space around it; `text`: as it is. */
  kind: 'value' | 'either' | 'text'
  /** Its content type, for its charset; UTF-8 without one. */
  contentType?: string
  /** Texts that are replaced wherever they stand. */
  hide?: readonly string[]
  /** Of a text that was cut: those whose rests are hidden as well. */
  cut?: readonly string[]
}

export interface OutputAnswer {
  /** Undefined for a `value` that is no JSON. */
  json: Uint8Array | undefined
  /** Objects, lists and fields in it. */
  parts: number
}

/** Reads an output and writes its JSON, for a thread: a megabyte of small objects takes a tenth of a second. */
export function runOutputTask (task: OutputTask): ThreadAnswer & { answer: OutputAnswer } {
  const { bytes, kind, contentType, hide = [], cut = [] } = task
  const decoded = contentType === undefined ? Buffer.from(bytes).toString('utf8') : decodeText(bytes, contentType)
  if (kind === 'text') return answerOf(JSON.stringify(withoutTexts(decoded, hide)), 0)
  const trimmed = decoded.trim()
  if (kind === 'either' && trimmed === '') return answerOf('{}', 1)
  const parsed = parseJson(trimmed) ?? (kind === 'either' ? { value: trimmed } : undefined)
  if (parsed === undefined) return { answer: { json: undefined, parts: 0 } }
  // In the value: what is written in place of a number would be no JSON, and JSON may write any character as an escape.
  const value = withoutTextsIn(parsed.value, hide, { cut })
  return answerOf(writeJson(value), partsOf(value))
}

function answerOf (json: string, parts: number): ThreadAnswer & { answer: OutputAnswer } {
  const bytes = Buffer.from(json)
  return { answer: { json: bytes, parts }, move: movable(bytes) }
}
