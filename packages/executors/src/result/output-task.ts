import { Buffer } from 'node:buffer'
import { mapTexts, writeJson } from '@toolyard/contract/terms'
import { movable, type ThreadAnswer } from '@toolyard/runtime/threads'
import { decodeText } from '../run/decode-text.ts'
import { parseJson, partsOf } from '../run/json.ts'
import { withoutParts, withoutTexts } from './hidden-texts.ts'

/** A large output: plain data, for a thread. */
export interface OutputTask {
  bytes: Uint8Array
  /** `value`: JSON; `either`: JSON if it is that, else text without the white space around it; `text`: as it is. */
  kind: 'value' | 'either' | 'text'
  /** Its content type, for its charset; UTF-8 without one. */
  contentType?: string
  /** Texts that are replaced wherever they stand. */
  hide?: readonly string[]
  /** It is the beginning of a longer text. */
  isCut?: boolean
}

export interface OutputAnswer {
  /** Undefined for a `value` that is no JSON. */
  json: Uint8Array | undefined
  /** Objects, lists and fields in it. */
  parts: number
}

/** Reads an output and writes its JSON, for a thread: a megabyte of small objects takes a tenth of a second. */
export function runOutputTask (task: OutputTask): ThreadAnswer & { answer: OutputAnswer } {
  const { bytes, kind, contentType, hide = [], isCut = false } = task
  const decoded = contentType === undefined ? Buffer.from(bytes).toString('utf8') : decodeText(bytes, contentType)
  const text = withoutTexts(decoded, hide)
  if (kind === 'text') return answerOf(JSON.stringify(text), 0)
  const trimmed = text.trim()
  if (kind === 'either' && trimmed === '') return answerOf('{}', 1)
  const parsed = parseJson(trimmed) ?? (kind === 'either' ? { value: trimmed } : undefined)
  // JSON may write any character as an escape: then a text shows only now.
  const withoutHidden = isCut ? withoutParts : withoutTexts
  const mayHide = hide.length > 0 && (isCut || trimmed.includes('\\'))
  const value = mayHide ? mapTexts(parsed?.value, part => withoutHidden(part, hide)) : parsed?.value
  return parsed === undefined ? { answer: { json: undefined, parts: 0 } } : answerOf(writeJson(value), partsOf(value))
}

function answerOf (json: string, parts: number): ThreadAnswer & { answer: OutputAnswer } {
  const bytes = Buffer.from(json)
  return { answer: { json: bytes, parts }, move: movable(bytes) }
}
