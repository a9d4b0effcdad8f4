import type { Job, Span } from 'bullmq'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { asError } from '@toolyard/contract/terms'
import { bullmq } from '../redis/bullmq.ts'
import type { JobBackend, TakenFields } from './job-backend.ts'
import { TimedWorker } from './timed/timed-worker.ts'
import { mayPass } from '../redis/unavailable.ts'
import { idOf } from '../record/job-id.ts'

/** How long a worker that may not ask Redis for a job, or can't settle one, waits until it tries again, in milliseconds. */
export const pauseMs = 50

/** A job was put off: its place in the worker is free, and whether the worker takes another one is for its loop to say. */
export class PutOffError extends bullmq.DelayedError {}

/**
 * BullMQ's worker and loop, with what Toolyard promises: an outcome isn't lost while Redis can't take it, and who has put
 * off a job leaves it to others.
 *
 * It is started by `run`, once all listeners are set (`autorun` must be false).
 */
export class JobWorker<Data, Result, Backend extends JobBackend = JobBackend> extends TimedWorker<Data, Result, Backend> {
  #awayUntil = 0
  /** Jobs that were taken and whose run has not started: nobody renews their locks. */
  #unstarted = 0

  /** How long no other job is taken after the one of this id, in milliseconds. */
  stayAwayMs: (jobId: string) => number = () => 0

  protected override async handleCompleted (
    result: Result, job: Job<Data, Result>, token: string, fetchNext?: () => boolean, span?: Span
  ): Promise<Job<Data, Result>> {
    try {
      return await this.settle(job, token, async () => await super.handleCompleted(result, job, token, fetchNext, span))
    } catch (error) {
      if (!bullmq.isNotConnectionError(asError(error))) throw error
      // The job has done its work: another attempt would do it again.
      throw new bullmq.UnrecoverableError(`its outcome could not be stored: ${asError(error).message}`)
    }
  }

  protected override async handleFailed (
    error: Error, job: Job<Data, Result>, token: string, fetchNext?: () => boolean, span?: Span
  ): Promise<Job<Data, Result>> {
    return await this.settle(job, token, async () => await super.handleFailed(
      error, job, token, error instanceof PutOffError ? () => false : fetchNext, span
    ))
  }

  protected override createJob (fields: TakenFields, id: string): Job<Data, Result> {
    const job = super.createJob(fields, id)
    if (fields.isUnbegun === true) this.backend.runs.noteUnbegun(job)
    this.#awayUntil = performance.now() + this.stayAwayMs(id)
    this.#unstarted++
    return job
  }

  override async processJob (job: Job<Data, Result>, token: string, fetchNext?: () => boolean): Promise<void | Job<Data, Result>> {
    this.#unstarted--
    return await super.processJob(job, token, fetchNext)
  }

  protected override async moveToActive (token: string, name?: string): Promise<Job<Data, Result>> {
    const awayMs = this.#awayUntil - performance.now()
    if (awayMs > 0 && this.#unstarted > 0) {
      // BullMQ's loop starts what it has taken once it finds no other job. Until then a rest could outlast their locks.
      await nextTurn()
      // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- BullMQ returns undefined where there is no job.
      return undefined as never
    }
    if (awayMs > 0) await this.rest(awayMs)
    return await super.moveToActive(token, name)
  }

  /** Settles a job, again and again while Redis can't take it; its lock is renewed meanwhile. */
  protected async settle<T> (job: Job<Data, Result>, token: string, settle: () => Promise<T>): Promise<T> {
    const id = idOf(job)
    try {
      for (let isHeld = false; ; isHeld = true) {
        try {
          return await settle()
        } catch (error) {
          // BullMQ itself waits for a connection.
          if (!mayPass(error) || !bullmq.isNotConnectionError(asError(error))) throw error
          // Once: the lock is renewed of what has been tracked for a while. BullMQ untracks a job before it is settled.
          if (!isHeld) this.lockManager.trackJob(id, token, 0)
          await delay(pauseMs)
        }
      }
    } finally {
      this.lockManager.untrackJob(id)
    }
  }

  /** Waits, but not while the worker closes. */
  protected async rest (ms: number): Promise<void> {
    if (this.closing !== undefined) return
    const closing = new AbortController()
    const end = (): void => { closing.abort() }
    this.once('closing', end)
    await delay(ms, undefined, { signal: closing.signal }).catch(() => {})
    this.off('closing', end)
  }
}
