import { randomInt } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'

/**
 * A mark that a process hands on to everything it starts, through `fork`, `exec` and `setsid`: its core dump filter,
 * nine bits that each process may set for itself. It finds what left the process tree by a double fork, which neither
 * the parent nor the group nor the session tells. Linux only; a pid namespace makes it superfluous.
 */
export type Mark = number

/** The marks of a worker's calls. */
export interface Marks {
  /** A mark that no running call of this worker has; undefined where there are none, or none is left. */
  take (): Mark | undefined
  /** A mark that is taken stays so until it has been released once more. */
  keep (mark: Mark | undefined): void
  release (mark: Mark | undefined): void
  /** Runs `start`, so that the process which it starts is born with the mark. */
  apply<T> (mark: Mark | undefined, start: () => T): T
}

const markCount = 512
/** The kernel's own filter: the one mark that says nothing. */
const usual = 0x33

/** Makes the marks of this worker, of which at most 512 can be taken at once. */
export function createMarks (): Marks {
  const own = readMark('self')
  const free = own === undefined ? [] : Array.from({ length: markCount }, (_, mark) => mark).filter(mark => mark !== own && mark !== usual)
  const kept = new Map<Mark, number>()

  return {
    take: () => free.length === 0 ? undefined : free.splice(randomInt(free.length), 1)[0],
    keep (mark) {
      if (mark !== undefined) kept.set(mark, (kept.get(mark) ?? 0) + 1)
    },
    release (mark) {
      if (mark === undefined) return
      const times = kept.get(mark) ?? 0
      if (times === 0) free.push(mark)
      else kept.set(mark, times - 1)
    },
    apply (mark, start) {
      if (mark === undefined || own === undefined) return start()
      writeOwnMark(mark)
      try {
        return start()
      } finally {
        writeOwnMark(own)
      }
    }
  }
}

/** The mark of a process; undefined when it is gone or the kernel keeps none. */
export function readMark (pid: number | 'self'): Mark | undefined {
  try {
    const mark = Number.parseInt(readFileSync(`/proc/${pid}/coredump_filter`, 'latin1'), 16)
    return Number.isNaN(mark) ? undefined : mark
  } catch {
    return undefined
  }
}

function writeOwnMark (mark: Mark): void {
  try {
    writeFileSync('/proc/self/coredump_filter', `0x${mark.toString(16)}`)
  } catch {
    // A read-only /proc: the run goes on without a mark.
  }
}
