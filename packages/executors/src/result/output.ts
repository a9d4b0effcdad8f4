import type { Success } from '../run/outcome.ts'
import type { Captured } from '@toolyard/runtime'
import { parseJson } from '../run/json.ts'
import { decodePrefix } from '../run/utf8.ts'

/** UTF-16 units of a line that are read to see whether it is JSON. */
const looksAt = 65_536

/**
 * The output of a command as a value: JSON is parsed, blank is `{}`, anything else is its text without
 * the white space around it. What is no UTF-8 was found before. More than the cap is the text that was kept, with `cut`.
 */
export function commandOutput ({ kept, totalBytes }: Captured): Success {
  if (totalBytes > kept.length) return cutText({ kept, totalBytes })
  const text = kept.toString('utf8').trim()
  if (text === '') return { ok: true, output: {} }
  const parsed = parseJson(text)
  return { ok: true, output: parsed === undefined ? text : parsed.value }
}

export function endsInJson (text: string): boolean {
  const last = text.slice(text.lastIndexOf('\n') + 1).trim()
  return last.length < text.length && last.length <= looksAt && /^[{[]/.test(last) && parseJson(last) !== undefined
}

/** The output of a skill's program as text, exactly: not trimmed, not parsed; invalid UTF-8 becomes U+FFFD. */
export function textOutput ({ kept, totalBytes }: Captured): Success {
  return totalBytes > kept.length ? cutText({ kept, totalBytes }) : { ok: true, output: kept.toString('utf8') }
}

/** The part that was kept, as text: whatever it was, nobody can read it as JSON any more. */
export function cutText ({ kept, totalBytes }: Captured): Success {
  const { text, bytes } = decodePrefix(kept)
  return { ok: true, output: text, cut: { bytes: totalBytes, storedBytes: bytes } }
}
