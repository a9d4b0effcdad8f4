import { BuiltinFailure } from '../handler.ts'

/**
 * Replaces a text that occurs exactly once. In a file of CRLF lines, texts with plain line feeds are taken to mean
 * those: models don't see the difference.
 *
 * @throws BuiltinFailure when the old text is empty, not there, or there more than once.
 */
export function editText (text: string, { oldText, newText }: { oldText: string, newText: string }): string {
  if (oldText === '') throw new BuiltinFailure('input.old_text must not be empty')
  if (!text.includes(oldText) && text.includes('\r\n') && !oldText.includes('\r')) {
    return editOnce(text, crlf(oldText), crlf(newText))
  }
  return editOnce(text, oldText, newText)
}

function editOnce (text: string, oldText: string, newText: string): string {
  const count = occurrences(text, oldText)
  if (count === 0) throw new BuiltinFailure('input.old_text was not found in the file (read it first with data.file_read; white space counts)')
  if (count > 1) throw new BuiltinFailure(`input.old_text occurs ${count} times; add lines around it until it occurs once`)
  const at = text.indexOf(oldText)
  return text.slice(0, at) + newText + text.slice(at + oldText.length)
}

/** Overlapping ones too: either could be meant. */
function occurrences (text: string, part: string): number {
  let count = 0
  for (let at = text.indexOf(part); at !== -1 && count < 1_000; at = text.indexOf(part, at + 1)) count += 1
  return count
}

function crlf (text: string): string {
  return text.replace(/\r?\n/g, '\r\n')
}
