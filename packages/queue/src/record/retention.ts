/** How long finished jobs are kept, and how many of them per queue and kind of end. */
export interface Retention {
  ageSec: number
  count: number
  /** For those that failed, where that is another time. */
  failedSec?: number
}

/** An output, and a log, outlive their job by so many seconds: whoever has just read the job can still read them. */
export const outputTailSec = 60
/** Jobs that one settlement may remove because of their age: a long backlog doesn't block Redis. */
const removedAtOnce = 100

interface Keep { age: number, count: number, limit: number }

export function keepJobs ({ ageSec, count, failedSec = ageSec }: Retention): { completed: Keep, failed: Keep } {
  return { completed: { age: ageSec, count, limit: removedAtOnce }, failed: { age: failedSec, count, limit: removedAtOnce } }
}

/** How long an output is kept at most, in seconds. */
export function outputSec ({ ageSec }: Retention): number {
  return ageSec + outputTailSec
}
