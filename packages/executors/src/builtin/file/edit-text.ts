import { placesOf } from '@toolyard/contract/terms'
import { BuiltinFailure } from '../kit/handler.ts'

/** Occurrences that are counted. */
const mostCounted = 1_000

/**
 * Replaces a text that occurs exactly once. In a file of CRLF lines, texts with plain line feeds are taken to mean
 * those: models don't see the difference.
 *
 * @throws BuiltinFailure when the old text is empty, not there, or there more than once.
 */
export function editText (text: string, { oldText, newText }: { oldText: string, newText: string }): string {
  if (oldText === '') throw new BuiltinFailure('input.old_text must not be empty')
  const found = findAll(text, oldText)
  if (found.count > 0 || !text.includes('\r\n') || oldText.includes('\r')) return replaceOnce(text, found, { oldText, newText })
  const [oldLines, newLines] = [crlf(oldText), crlf(newText)]
  return replaceOnce(text, findAll(text, oldLines), { oldText: oldLines, newText: newLines })
}

function replaceOnce (text: string, { first, count }: Found, { oldText, newText }: { oldText: string, newText: string }): string {
  if (count === 0) throw new BuiltinFailure('input.old_text was not found in the file (read it first with data.file_read; white space counts)')
  if (count > 1) throw new BuiltinFailure(`input.old_text occurs ${count} times; add lines around it until it occurs once`)
  return text.slice(0, first) + newText + text.slice(first + oldText.length)
}

interface Found {
  /** Offset of the first occurrence. */
  first: number
  /** Overlapping ones too, since either could be meant; at most `mostCounted`. */
  count: number
}

function findAll (text: string, part: string): Found {
  const found = { first: -1, count: 0 }
  for (const place of placesOf(text, part)) {
    if (found.count === 0) found.first = place
    found.count += 1
    if (found.count === mostCounted) break
  }
  return found
}

function crlf (text: string): string {
  return text.replace(/\r?\n/g, '\r\n')
}
