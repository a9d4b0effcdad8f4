import { Buffer } from 'node:buffer'
import { mapTexts, writeJson } from '@toolyard/contract/terms'
import { movable, type ThreadAnswer } from '@toolyard/runtime/threads'
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
  /** It is the beginning of a longer text. */
  isCut?: boolean
}

export interface OutputAnswer {
  /** Undefined for a `value` that is no JSON. */
  json: Uint8Array | undefined
  /** Objects, lists and fields in it. */
  parts: number
}

export const hiddenText = '***REDACTED***'

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

export function withoutTexts (text: string, hide: readonly string[]): string {
  return hide.reduce((rest, each) => rest.replaceAll(each, () => hiddenText), text)
}

/** The same for a text that is cut: what is left at its ends of a hidden text is replaced as well, and so it is in each line. */
export function withoutParts (text: string, hide: readonly string[]): string {
  const whole = withoutTexts(text, hide)
  return whole.split('\n').map(line => withoutBegun(withoutEnded(line, hide), hide)).join('\n')
}

/** Of a shorter part nothing can be made, and more texts end with it by chance. */
const leastPart = 6

function withoutBegun (line: string, hide: readonly string[]): string {
  const begun = hide.map(text => {
    const head = text.slice(0, leastPart)
    for (let at = line.indexOf(head, Math.max(0, line.length - text.length + 1)); at !== -1; at = line.indexOf(head, at + 1)) {
      if (text.startsWith(line.slice(at))) return at
    }
    return line.length
  })
  const from = Math.min(line.length, ...begun)
  return from === line.length ? line : line.slice(0, from) + hiddenText
}

function withoutEnded (line: string, hide: readonly string[]): string {
  const ended = hide.map(text => {
    const tail = text.slice(-leastPart)
    for (let at = line.lastIndexOf(tail, text.length - 1 - tail.length); at !== -1; at = at === 0 ? -1 : line.lastIndexOf(tail, at - 1)) {
      if (text.endsWith(line.slice(0, at + tail.length))) return at + tail.length
    }
    return 0
  })
  const to = Math.max(0, ...ended)
  return to === 0 ? line : hiddenText + line.slice(to)
}
