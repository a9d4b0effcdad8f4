/** How long finished jobs are kept, and how many of them per queue and kind of end. */
export interface Retention {
  ageSec: number
  count: number
}

/** An output, and a log, outlive their job by so many seconds: whoever has just read the job can still read them. */
export const outputTailSec = 60
/** Jobs that one settlement may remove because of their age: a long backlog doesn't block Redis. */
const removedAtOnce = 100

export function keepJobs ({ ageSec, count }: Retention): { age: number, count: number, limit: number } {
  return { age: ageSec, count, limit: removedAtOnce }
}

/** How long an output is kept at most, in seconds. */
export function outputSec ({ ageSec }: Retention): number {
  return ageSec + outputTailSec
}
