import { decodePrefix } from '../result/utf8.ts'
import { createCapture } from './capture.ts'

const maxLineBytes = 4_096
const maxLines = 2_000
const newline = 0x0a

export interface LineSplitter {
  add (chunk: Buffer): void
  /** Hands on the last line when it has no line end. */
  end (): void
}

/**
 * Cuts a stream into lines and hands each to `onLine` at once. A line keeps its first 4 KiB, blank lines are left out;
 * after 2,000 lines one last line says that the rest isn't shown.
 */
export function createLineSplitter (onLine: (line: string) => void): LineSplitter {
  let line = createCapture(maxLineBytes)
  let count = 0

  function finishLine (): void {
    const { kept, totalBytes } = line.read()
    const text = (kept.length < totalBytes ? decodePrefix(kept).text : kept.toString('utf8')).trimEnd()
    line = createCapture(maxLineBytes)
    if (text === '' || count > maxLines) return
    count += 1
    onLine(count > maxLines ? `[further lines are not shown after ${maxLines}]` : text)
  }

  return {
    add (chunk) {
      let start = 0
      for (let end = chunk.indexOf(newline); end !== -1 && count <= maxLines; end = chunk.indexOf(newline, start)) {
        line.add(chunk.subarray(start, end))
        finishLine()
        start = end + 1
      }
      line.add(chunk.subarray(start))
    },
    end: finishLine
  }
}
