import { writeSync } from 'node:fs'
import { errorCode } from '@toolyard/contract/terms'

/** How long a reader that is behind is waited for, until it is tried again, in milliseconds. */
const pauseMs = 20
/** How long it is waited for at the end of the process, in milliseconds. */
const endMs = 1_000
/** What is kept for a reader that is behind, in characters, and in how large pieces. */
const maxKept = 16_777_216
const pieceChars = 65_536
const pause = new Int32Array(new SharedArrayBuffer(4))

let opened: LogOutput | undefined

interface LogOutput {
  write: (text: string) => void
}

/**
 * Stdout for lines of the log, one for all loggers of the process. What can't be written, as on a full disk, is lost: pino's own
 * stream would try it again for ever, and hold up the process. A reader that stands still holds up nothing: lines are kept for it,
 * and what is beyond 16 MiB is counted, and told when it reads again.
 */
export function openStdout (): LogOutput {
  opened ??= makeOutput()
  return opened
}

function makeOutput (): LogOutput {
  // Node switches off that writes to a pipe or socket wait when this is opened.
  const { fd } = process.stdout
  /** What is being written, without what was. */
  let rest = Buffer.alloc(0)
  // A part of the line was written.
  let isCut = false
  const kept: string[] = []
  let keptChars = 0
  let lost = 0
  let timer: NodeJS.Timeout | undefined

  /** False when the reader is behind. */
  function writeRest (): boolean {
    const { length } = rest
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(fd, rest))
      if (length > 0) isCut = false
    } catch (error) {
      if (errorCode(error) === 'EAGAIN') return false
      isCut ||= rest.length < length
      rest = Buffer.alloc(0)
    }
    return true
  }

  function writeKept (): boolean {
    while (writeRest()) {
      const next = kept.shift() ?? lostLine()
      if (next === undefined) return true
      keptChars -= next.length
      rest = Buffer.from(next)
    }
    return false
  }

  function lostLine (): string | undefined {
    if (lost === 0) return undefined
    const line = `${JSON.stringify({ level: 40, time: new Date().toISOString(), msg: `${lost} lines of the log are lost: who reads it was behind` })}\n`
    lost = 0
    keptChars += line.length
    return line
  }

  function keep (text: string): void {
    if (keptChars + text.length > maxKept) {
      lost++
      return
    }
    keptChars += text.length
    const last = kept.at(-1)
    if (last !== undefined && last.length < pieceChars) kept[kept.length - 1] = last + text
    else kept.push(text)
  }

  function tryAgain (): void {
    timer = setTimeout(() => { if (!writeKept()) tryAgain() }, pauseMs).unref()
  }

  process.on('exit', () => {
    clearTimeout(timer)
    const until = performance.now() + endMs
    while (!writeKept() && performance.now() < until) Atomics.wait(pause, 0, 0, pauseMs)
  })

  return {
    write (text) {
      if (rest.length > 0) {
        keep(text)
        return
      }
      rest = Buffer.from(isCut ? `\n${text}` : text)
      if (!writeRest()) tryAgain()
    }
  }
}
