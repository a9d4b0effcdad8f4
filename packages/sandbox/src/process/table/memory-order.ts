import { readFileSync, writeFileSync } from 'node:fs'

/*
 * Which processes the kernel ends where memory is short: the largest, which is the worker or Redis where a call has many small
 * ones. So those of tools come first, and only among them the largest.
 */

/** The most that there is. A tool can't lower it, since /proc is read-only in its box. */
const first = '1000'

/**
 * Starts a process so that it is ended first, with all that it starts.
 *
 * @param self the directory in /proc of the process that starts it. It keeps its own place.
 */
export function startFirstToEnd<Started> (self: string, start: () => Started): Started {
  const own = readPlace(self)
  setPlace(self, first)
  try {
    return start()
  } finally {
    if (own !== undefined) setPlace(self, own)
  }
}

/** Lets a process that runs be ended first, with all that it starts from now on. */
export function endFirst (pid: number): void {
  setPlace(`/proc/${pid}`, first)
}

function readPlace (process: string): string | undefined {
  try {
    return readFileSync(`${process}/oom_score_adj`, 'utf8')
  } catch {
    return undefined
  }
}

/** Where the kernel refuses it, all is as it was. */
function setPlace (process: string, place: string): void {
  try {
    writeFileSync(`${process}/oom_score_adj`, place)
  } catch {}
}
