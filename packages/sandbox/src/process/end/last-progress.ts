import { parseProgress, type Progress } from '@toolyard/contract/terms'

const newline = 0x0a
const mark = Buffer.from('\n::progress ')
/** Bytes of a line that are looked at. */
const maxLineBytes = 4_096

/**
 * Finds the last line with progress in each piece of a stream, and doesn't read all other lines: a gigabyte of
 * them costs no more than a search of the machine's own. The stream begins at the beginning of a line.
 *
 * @returns takes a piece.
 */
export function createLastProgress (onProgress: (progress: Progress) => void): (chunk: Buffer) => void {
  /** The beginning of the line that is open, with what ends the one before. */
  let open = Buffer.from('\n')
  return chunk => {
    const end = chunk.lastIndexOf(newline)
    if (end === -1) {
      if (open.length < maxLineBytes) open = Buffer.concat([open, chunk.subarray(0, maxLineBytes - open.length)])
      return
    }
    const whole = Buffer.concat([open, chunk.subarray(0, end)])
    const from = whole.lastIndexOf(mark)
    if (from !== -1) {
      const until = whole.indexOf(newline, from + 1)
      const line = whole.subarray(from + 1, Math.min(from + 1 + maxLineBytes, until === -1 ? whole.length : until))
      const progress = parseProgress(line.toString('utf8').trimEnd())
      if (progress !== undefined) onProgress(progress)
    }
    open = Buffer.from(chunk.subarray(end, end + maxLineBytes))
  }
}
