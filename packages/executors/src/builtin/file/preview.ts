import { decodePrefix, firstChars } from '../../run/utf8.ts'

/** UTF-16 units of one preview, and bytes before the change that it begins with. */
const previewChars = 400
const leadBytes = 80

/** The place where two contents begin to differ, in both of them; the start when they are equal. */
export function previews (before: Buffer, after: Buffer): { preview_before: string, preview_after: string } {
  const start = Math.max(0, firstDifference(before, after) - leadBytes)
  return { preview_before: preview(before, start), preview_after: preview(after, start) }
}

function firstDifference (before: Buffer, after: Buffer): number {
  if (before.equals(after)) return 0
  const length = Math.min(before.length, after.length)
  let at = 0
  while (at < length && before[at] === after[at]) at += 1
  return at
}

function preview (content: Buffer, start: number): string {
  let from = start
  while (from > 0 && ((content[from] ?? 0) & 0xc0) === 0x80) from -= 1
  return firstChars(decodePrefix(content.subarray(from, from + previewChars * 4)).text, previewChars)
}
