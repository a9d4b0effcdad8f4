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
  const found = findText(text, oldText)
  if (found.count > 0 || !text.includes('\r\n') || oldText.includes('\r')) return replaceOnce(text, found, { oldText, newText })
  const [oldLines, newLines] = [crlf(oldText), crlf(newText)]
  return replaceOnce(text, findText(text, oldLines), { oldText: oldLines, newText: newLines })
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

/**
 * Finds a part by the algorithm of Knuth, Morris and Pratt. `indexOf` compares a part of equal letters anew at each
 * place, which takes time proportional to both lengths multiplied.
 */
function findText (text: string, part: string): Found {
  const found = { first: -1, count: 0 }
  const borders = bordersOf(part)
  for (let at = 0, matched = 0; at < text.length && found.count < mostCounted; at++) {
    const unit = text.charCodeAt(at)
    while (matched > 0 && (matched === part.length || part.charCodeAt(matched) !== unit)) matched = borders[matched] ?? 0
    if (part.charCodeAt(matched) === unit) matched += 1
    if (matched < part.length) continue
    if (found.count === 0) found.first = at - part.length + 1
    found.count += 1
  }
  return found
}

/** For each length of a beginning of the part: how long the longest beginning is that it also ends with. */
function bordersOf (part: string): Int32Array {
  const borders = new Int32Array(part.length + 1)
  for (let at = 1, matched = 0; at < part.length; at++) {
    const unit = part.charCodeAt(at)
    while (matched > 0 && part.charCodeAt(matched) !== unit) matched = borders[matched] ?? 0
    if (part.charCodeAt(matched) === unit) matched += 1
    borders[at + 1] = matched
  }
  return borders
}

function crlf (text: string): string {
  return text.replace(/\r?\n/g, '\r\n')
}
