import { readFully, type Descriptor } from '@toolyard/workspace'
import { decodePrefix } from '../../run/utf8.ts'

/** An open file, and how much of it may be read. */
export interface ReadableFile {
  handle: Descriptor
  size: number
  maxBytes: number
  /** Whether characters don't matter. */
  base64: boolean
  /** Before each piece that is gone through. */
  pieceTurn: () => Promise<void>
}

export interface Part {
  bytes: Buffer
  /** Whether the file goes on after it. */
  truncated: boolean
  /** Fields of the answer that tell where the part is. */
  more: object
}

/** Reads from a byte on; a character that either end would cut is left out. */
export async function readByteRange (file: ReadableFile, start: number): Promise<Part> {
  const read = await readFully(file.handle, start, Math.max(0, Math.min(file.maxBytes, file.size - start)))
  const ends = start + read.length >= file.size
  const skipped = file.base64 || start === 0 ? 0 : continuationLength(read)
  const whole = read.subarray(skipped)
  const bytes = file.base64 || ends ? whole : whole.subarray(0, decodePrefix(whole).bytes)
  const end = start + skipped + bytes.length
  return {
    bytes,
    truncated: end < file.size,
    more: { ...(start === 0 ? {} : { start_byte: start + skipped }), ...(end < file.size ? { next_start_byte: end } : {}) }
  }
}

/** Bytes at the start that belong to a character before it. */
function continuationLength (bytes: Buffer): number {
  let length = 0
  while (length < 3 && ((bytes[length] ?? 0) & 0xc0) === 0x80) length += 1
  return length
}
