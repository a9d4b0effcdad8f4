import type { JobState, JobView } from '@toolyard/contract'
import { readOptions } from './new-job.ts'

/** Times of a job's record, all by Redis' clock, in milliseconds since 1970. */
export interface JobCourse {
  timestamp: number
  /** How long it was to wait before it was due. */
  delayMs: number
  /** When it was taken last. */
  processedOn: number | undefined
  /** When a job that makes jobs was taken first; it is taken again for each step. */
  began: number | undefined
  finishedOn: number | undefined
  /** How often it was run, and how many of the runs have ended: one more for a job that was cancelled while it waited. */
  runs: number
  endedRuns: number
  /** An operator has run it again. */
  isRerun: boolean
}

/** The field of a job's record with `JobCourse.began`. */
export const beganField = 'began'

type Times = Pick<JobView, 'started_at' | 'finished_at' | 'waited_ms' | 'ran_ms'>

/**
 * When a job began and ended, and how long it took. Each time is that of Redis, so that clocks of machines don't matter.
 * How long a job waited is known only for the first run: before a later one there are other runs, and pauses.
 */
export function timesOf (course: JobCourse, status: JobState): Times {
  const { timestamp, delayMs, processedOn, began, finishedOn, runs, endedRuns, isRerun } = course
  // One that is parked for its steps counts as not taken; one that waits again has no run.
  const start = status === 'queued' || status === 'held' || status === 'input_required' ? undefined : began ?? (runs > 0 ? processedOn : undefined)
  const isFirst = runs <= 1 && !isRerun
  const hasNoEnd = finishedOn === undefined || (endedRuns > runs && began === undefined)
  return {
    started_at: isoOrNull(start),
    finished_at: isoOrNull(finishedOn),
    waited_ms: start === undefined || !isFirst ? null : Math.max(0, start - timestamp - delayMs),
    ran_ms: start === undefined || hasNoEnd ? null : Math.max(0, finishedOn - start)
  }
}

/** How long a job was to wait before it was due, by its options: BullMQ's own field is reset when it is. */
export function delayOf (options: string | null | undefined): number {
  return options?.includes('"delay"') === true ? readOptions(options).delay ?? 0 : 0
}

/** A job's time in milliseconds, as ISO 8601 in UTC. */
export function isoTime (ms: number): string {
  return new Date(ms).toISOString()
}

function isoOrNull (ms: number | undefined): string | null {
  return ms === undefined ? null : isoTime(ms)
}
