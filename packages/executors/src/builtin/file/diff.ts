import { createTwoFilesPatch } from 'diff'

/** Bytes of both contents, and milliseconds, up to which a diff is made. */
const maxBytes = 2_097_152
const maxMs = 2_000

/** A unified diff; null when the contents are too large or too different. */
export function unifiedDiff (path: string, before: Buffer, after: Buffer): string | null {
  if (before.length + after.length > maxBytes) return null
  return createTwoFilesPatch(path, path, before.toString('utf8'), after.toString('utf8'), undefined, undefined, { timeout: maxMs }) ?? null
}
