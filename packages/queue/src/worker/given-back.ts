import type { JobData, OutputRecord } from '@toolyard/contract'
import { protocol } from '@toolyard/contract/terms'
import { failed, left, type JobWorker, type Outcome } from '../backend/job-worker.ts'
import { lostTooOften, maxLostRuns } from '../record/settlement.ts'
import { idOf } from '@toolyard/store'
import type { Run } from './run.ts'

/** A job that is put off is due again after this time, each further time after twice as much, in milliseconds. */
const pauseMs = { first: 50, most: 400 }
/** Half of the pause after a first lost run, in milliseconds. */
const lostPauseMs = 100
/** The longest pause of a job that needs a newer release. No worker of this release runs it, so it must not delay other jobs. */
const newerPauseMs = 1_000
/** Jobs that wait for minutes are looked at more and more seldom, up to this pause: thousands of them must not cost Redis a core. */
const longestPauseMs = 10_000
/** A worker that takes a job again that it has put off takes no other job for so many of that job's pauses. */
const stayAway = 4
/** Jobs that are remembered; the oldest are forgotten first. */
const remembered = 1_000

/** Whether a job was made by a newer release, which workers of this one would misread. */
export function isNewer (data: JobData): boolean {
  return (data.protocol ?? 0) > protocol
}

/**
 * Gives jobs back that a worker has taken. A job is put off when another worker must run it, or when it can't run now. A
 * worker that takes a job again that it has put off takes nothing else for a while. Else the same worker could be the fastest
 * each time.
 */
export class GivenBackJobs {
  readonly #worker: JobWorker<JobData, OutputRecord>
  readonly #pauses = new Map<string, number>()

  constructor (worker: JobWorker<JobData, OutputRecord>) {
    this.#worker = worker
  }

  /**
   * Puts a job back whose run was lost. A worker that stops does so at once. In one that goes on, what the run needs was
   * lost, and may be lost again: there, each time takes longer, and there is a last one.
   */
  async giveBack ({ job, token, repeat, abort }: Run): Promise<Outcome<never>> {
    const { runs, wakeUps } = this.#worker.backend
    this.#worker.leaveJob(idOf(job))
    if (abort.signal.aborted) {
      await repeat(() => job.moveToWait(token))
      await repeat(() => wakeUps.wake())
      return left
    }
    // Only what has begun counts.
    if (runs.isUnbegun(job) && !await repeat(() => runs.begin(job, token))) return left
    const lostRuns = job.attemptsStarted - job.attemptsMade
    if (lostRuns > maxLostRuns) return failed(lostTooOften)
    await repeat(() => job.moveToDelayed(Date.now() + lostPauseMs * 2 ** lostRuns, token))
    return left
  }

  /**
   * Puts a job back for any worker, after a pause that grows with each time, as if it hadn't been taken.
   *
   * @param isForOthers it waits for other jobs or for Redis, and no worker stays away for it
   */
  async putOff ({ job, token, repeat }: Run, isForOthers = false): Promise<void> {
    this.#worker.leaveJob(idOf(job))
    const times = await repeat(() => this.#worker.backend.runs.uncount(job, token))
    const newer = isForOthers || isNewer(job.data)
    const ms = Math.min(pauseMs.first * 2 ** Math.max(0, times - 1), newer ? newerPauseMs : pauseMs.most)
    const longMs = Math.min(pauseMs.first * times, longestPauseMs)
    // The next job may be this worker's own.
    if (!newer) this.#remember(idOf(job), ms)
    await repeat(() => job.moveToDelayed(Date.now() + Math.max(ms, longMs), token))
  }

  /** Parks a job until somebody wakes it, as if it hadn't been taken; it comes by itself after so many milliseconds. */
  async park ({ job, token, repeat }: Run, ms: number): Promise<void> {
    this.#worker.leaveJob(idOf(job))
    await repeat(() => this.#worker.backend.runs.uncount(job, token))
    await repeat(() => job.moveToDelayed(Date.now() + ms, token))
  }

  /** How long the worker that has taken a job takes no other one, in milliseconds. */
  stayAwayMs (id: string): number {
    return stayAway * (this.#pauses.get(id) ?? 0)
  }

  #remember (id: string, ms: number): void {
    this.#pauses.delete(id)
    this.#pauses.set(id, ms)
    const [oldest = ''] = this.#pauses.keys()
    if (this.#pauses.size > remembered) this.#pauses.delete(oldest)
  }
}
