import { Buffer } from 'node:buffer'
import type { ThreadAnswer } from '../run/threads.ts'
import { decodeText } from '../run/decode-text.ts'
import { parseJson, partsOf } from '../run/json.ts'

/** A large output: plain data, for a thread. */
export interface OutputTask {
  bytes: Uint8Array
  /** `value`: JSON; `either`: JSON if it is that, else text without the white space around it; `text`: as it is. */
  kind: 'value' | 'either' | 'text'
  /** Its content type, for its charset; UTF-8 without one. */
  contentType?: string
  /** Texts that are replaced wherever they stand. */
  hide?: readonly string[]
}

/** What it is. */
export interface OutputAnswer {
  /** Undefined for a `value` that is no JSON. */
  json: string | undefined
  /** Objects, lists and fields in it. */
  parts: number
}

/** What stands in the place of a text that is hidden. */
export const hiddenText = '***REDACTED***'

/** Reads an output and writes its JSON, for a thread: a megabyte of small objects takes a tenth of a second. */
export function runOutputTask ({ bytes, kind, contentType, hide = [] }: OutputTask): ThreadAnswer & { answer: OutputAnswer } {
  const decoded = contentType === undefined ? Buffer.from(bytes).toString('utf8') : decodeText(bytes, contentType)
  const text = hide.reduce((rest, each) => rest.replaceAll(each, () => hiddenText), decoded)
  if (kind === 'text') return { answer: { json: JSON.stringify(text), parts: 0 } satisfies OutputAnswer }
  const trimmed = text.trim()
  if (kind === 'either' && trimmed === '') return { answer: { json: '{}', parts: 1 } satisfies OutputAnswer }
  const parsed = parseJson(trimmed) ?? (kind === 'either' ? { value: trimmed } : undefined)
  return {
    answer: { json: parsed === undefined ? undefined : JSON.stringify(parsed.value), parts: partsOf(parsed?.value) } satisfies OutputAnswer
  }
}
