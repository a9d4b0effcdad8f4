import { StringDecoder } from 'node:string_decoder'
import { parseProgress, type Progress } from '@toolyard/contract/terms'
import { createCapture, type Capture, type Captured } from '@toolyard/runtime'

const maxLineBytes = 4_096
const maxLines = 2_000
/** Lines with progress that are read one by one; of what comes later, the last one of each piece counts. */
const maxTold = 2_000
const mark = Buffer.from('::progress ')
const markedLine = Buffer.from('\n::progress ')
const newline = 0x0a
const space = 0x20

interface LineSplitter {
  add (chunk: Buffer): void
  /** Hands on the last line when it has no line end. */
  end (): void
}

/** Takes the lines that tell how far a tool is: `parseProgress`. */
export type OnProgress = ((progress: Progress) => void) | undefined

/**
 * Cuts a stream into lines and hands each to `onLine` at once. A line keeps its first 4 KiB, blank lines are left out;
 * after 2,000 lines one last line says that the rest isn't shown. Lines for `onProgress` are none of these, and come at any time.
 */
export function createLineSplitter (onLine: (line: string) => void, onProgress?: OnProgress): LineSplitter {
  const lastProgress = onProgress === undefined ? () => {} : createLastProgress(onProgress)
  /** A line whose end hasn't come yet. */
  let open: Capture | undefined
  let count = 0
  let told = 0

  function finishLine ({ kept, totalBytes }: Captured): void {
    // A decoder keeps back a character that the cut left incomplete.
    const text = (kept.length < totalBytes ? new StringDecoder('utf8').write(kept) : kept.toString('utf8')).trimEnd()
    if (text === '' || count > maxLines) return
    const progress = onProgress === undefined ? undefined : parseProgress(text)
    if (progress !== undefined) {
      told += 1
      onProgress?.(progress)
      return
    }
    count += 1
    onLine(count > maxLines ? `[further lines are not shown after ${maxLines}]` : text)
  }

  function finishOpen (): void {
    if (open !== undefined) finishLine(open.read())
    open = undefined
  }

  return {
    add (chunk) {
      let start = 0
      let last: Buffer | undefined
      if (count > maxLines) {
        lastProgress(chunk)
        return
      }
      // Byte by byte: blank lines cost nothing else, and there may be a million of them.
      for (let at = 0, blank = true; at < chunk.length && count <= maxLines; at++) {
        const byte = chunk[at] ?? 0
        if (byte !== newline) {
          blank &&= byte <= space
          continue
        }
        if (open !== undefined) {
          open.add(chunk.subarray(start, at))
          finishOpen()
        } else if (!blank && told >= maxTold && isMarked(chunk, start)) {
          last = chunk.subarray(start, at)
        } else if (!blank) {
          finishLine({ kept: chunk.subarray(start, Math.min(at, start + maxLineBytes)), totalBytes: at - start })
        }
        start = at + 1
        blank = true
      }
      if (last !== undefined) finishLine({ kept: last.subarray(0, maxLineBytes), totalBytes: last.length })
      if (start === chunk.length) return
      if (count > maxLines) {
        lastProgress(chunk.subarray(start))
        return
      }
      open ??= createCapture(maxLineBytes)
      open.add(chunk.subarray(start))
    },
    end: finishOpen
  }
}

/** Byte by byte: a call out of JavaScript takes ten times as long, and there may be a million lines. */
function isMarked (chunk: Buffer, start: number): boolean {
  let length = 0
  while (length < mark.length && chunk[start + length] === mark[length]) length += 1
  return length === mark.length
}

/**
 * Finds the last line with progress in each piece of a stream, and doesn't read all other lines: a gigabyte of
 * them costs no more than a search of the machine's own. The stream begins at the beginning of a line.
 *
 * @returns takes a piece.
 */
function createLastProgress (onProgress: (progress: Progress) => void): (chunk: Buffer) => void {
  /** The beginning of the line that is open, with what ends the one before. */
  let open = Buffer.from('\n')
  return chunk => {
    const end = chunk.lastIndexOf(newline)
    if (end === -1) {
      if (open.length < maxLineBytes) open = Buffer.concat([open, chunk.subarray(0, maxLineBytes - open.length)])
      return
    }
    const whole = Buffer.concat([open, chunk.subarray(0, end)])
    const from = whole.lastIndexOf(markedLine)
    if (from !== -1) {
      const until = whole.indexOf(newline, from + 1)
      const line = whole.subarray(from + 1, Math.min(from + 1 + maxLineBytes, until === -1 ? whole.length : until))
      const progress = parseProgress(line.toString('utf8').trimEnd())
      if (progress !== undefined) onProgress(progress)
    }
    open = Buffer.from(chunk.subarray(end, end + maxLineBytes))
  }
}
