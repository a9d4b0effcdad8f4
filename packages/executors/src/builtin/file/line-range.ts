import { readFully } from '@toolyard/workspace'
import { decodePrefix } from '../../run/utf8.ts'
import type { Part, ReadableFile } from './byte-range.ts'

const chunkBytes = 262_144
const lineFeed = 0x0a

/**
 * Reads whole lines, the first of a file being 1. A line that is longer than `maxBytes` by itself is cut; otherwise the
 * part ends with the last line that fits. Memory is bounded, whatever the size of the file.
 */
export async function readLineRange (file: ReadableFile, { start, count }: { start: number, count: number }): Promise<Part> {
  const begin = await startOfLine(file, start)
  if (begin === undefined) return { bytes: Buffer.alloc(0), truncated: false, more: { start_line: start, end_line: start - 1 } }
  const read = await readFully(file.handle, begin, Math.min(file.maxBytes, file.size - begin))
  const atEnd = begin + read.length >= file.size
  const { lines, last } = lineEnds(read, count)
  // The part reaches beyond its last line feed: into a last line without one, or into a line that doesn't fit.
  const rest = lines < count && (last ?? 0) < read.length
  if (rest && (atEnd || last === undefined)) {
    const bytes = atEnd || file.base64 ? read : read.subarray(0, decodePrefix(read).bytes)
    const next = atEnd ? {} : { next_start_byte: begin + bytes.length }
    return { bytes, truncated: !atEnd, more: { start_line: start, end_line: start + lines, ...next } }
  }
  const bytes = read.subarray(0, last ?? 0)
  const truncated = begin + bytes.length < file.size
  const next = start + lines
  return { bytes, truncated, more: { start_line: start, end_line: next - 1, ...(truncated ? { next_start_line: next } : {}) } }
}

/** Offset of a line's first byte; undefined when the file has fewer lines. */
async function startOfLine ({ handle, size, pieceTurn }: ReadableFile, line: number): Promise<number | undefined> {
  let passed = 1
  for (let position = 0; position < size && passed < line; position += chunkBytes) {
    const chunk = await readFully(handle, position, Math.min(chunkBytes, size - position))
    await pieceTurn()
    for (let at = 0; at < chunk.length; at++) {
      if (chunk[at] !== lineFeed) continue
      passed += 1
      if (passed === line) return position + at + 1 < size ? position + at + 1 : undefined
    }
  }
  return passed === line ? 0 : undefined
}

/** The line feeds, at most `count`, and the offset just after the last of them. */
function lineEnds (bytes: Buffer, count: number): { lines: number, last: number | undefined } {
  let lines = 0
  let last: number | undefined
  // One by one: `indexOf` takes fifty times as long where all bytes are line feeds.
  for (let at = 0; at < bytes.length && lines < count; at++) {
    if (bytes[at] !== lineFeed) continue
    lines += 1
    last = at + 1
  }
  return { lines, last }
}
