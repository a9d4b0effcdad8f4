import type { Job, Span } from 'bullmq'
import { setTimeout as delay } from 'node:timers/promises'
import { asError } from '@toolyard/contract/terms'
import { mayRedisTakeItLater, idOf } from '@toolyard/store'
import { bullmq } from '../record/bullmq.ts'
import type { JobBackend, TakenFields } from './job-backend.ts'
import { JobLoop } from './job-loop.ts'
import { TimedWorker } from './timed/timed-worker.ts'
import type { SharedPlaces } from './shared-places.ts'

/** How long a worker that may not ask Redis for a job, or can't settle one, waits until it tries again, in milliseconds. */
const pauseMs = 50

/** A worker that takes no jobs now asks after so many milliseconds whether it may again. */
const notNowMs = 200

/** When only another worker can run a job that this one has put off, this one looks for it so many milliseconds later than others. */
const yieldMs = 200

/** A job was put off: its place in the worker is free, and whether the worker takes another one is for its loop to say. */
export class PutOffError extends bullmq.DelayedError {}

/** A job whose taking was answered later than this is asked for again before it runs, in milliseconds. */
const lateMs = 500

/** In the job itself, since a WeakSet of short-lived objects costs the garbage collector a lot. */
const askedAt = Symbol('askedAt')
interface TakingNotes {
  /** Before the command was sent that took it, by `performance.now()`. */
  [askedAt]?: number | undefined
}

/** Errors by which a run says that its job is elsewhere by now. */
const movedOn = [bullmq.DelayedError, bullmq.WaitingError, bullmq.WaitingChildrenError]

/**
 * BullMQ's worker with a loop of its own, which starts each job as soon as it is taken: BullMQ's loop fills all places first,
 * which costs round trips (docs/decisions/0016-replace-bullmq-parts.md). And with what Toolyard promises: an outcome isn't lost while
 * Redis can't take it, and a worker that has put a job off leaves it to other workers.
 *
 * It is started by `run`, once all listeners are set (`autorun` must be false).
 */
export class JobWorker<Data, Result> extends TimedWorker<Data, Result, JobBackend> {
  readonly #loop = new JobLoop<Job<Data, Result>>({
    isOpen: () => this.closing === undefined && !this.paused,
    places: () => this.concurrency,
    take: async taken => await this.#take(`${this.id}:${taken}`),
    run: async job => (await this.processJob(job, job.token ?? '')) ?? undefined,
    restAfter: async job => {
      const awayMs = this.stayAwayMs(idOf(job))
      if (awayMs > 0) await this.#rest(awayMs)
    },
    onError: error => { this.emit('error', error) }
  })

  #hasAsked = false
  #awayUntil = 0
  #isYielding = false
  readonly #closing = new AbortController()

  /** How long no other job is taken after the one of this id, in milliseconds. */
  stayAwayMs: (jobId: string) => number = () => 0

  /** Whether it takes jobs now. */
  mayTake: () => boolean = () => true

  /** What it shares with the other workers of the process; undefined where each has only places of its own. */
  places: SharedPlaces | undefined

  /** Takes the jobs whose locks have ended from their workers, and wakes a worker for what waits though nobody was woken. */
  async recover (): Promise<void> {
    await this.backend.moveStalledJobsToWait()
    await this.backend.wakeUps.wakeForWork()
  }

  /** Until it takes another job, it looks later than others for the job that it is about to put off. */
  yieldToOthers (): void {
    this.#isYielding = true
  }

  /** Serves until the worker is closed or paused; resolves when its last job has ended. */
  override async run (): Promise<void> {
    if (this.running) throw new Error('Worker is already running.')
    this.running = true
    try {
      await this.startStalledCheckTimer()
      this.lockManager.start()
      this.mainLoopRunning = this.#loop.serve()
      await this.mainLoopRunning
    } finally {
      this.running = false
    }
  }

  override async getNextJob (...asked: Parameters<TimedWorker<Data, Result, JobBackend>['getNextJob']>): ReturnType<TimedWorker<Data, Result, JobBackend>['getNextJob']> {
    while (!this.mayTake() && this.closing === undefined) await this.#rest(notNowMs)
    return await super.getNextJob(...asked)
  }

  override async close (force = false): Promise<void> {
    this.#closing.abort()
    await super.close(force)
  }

  override async processJob (job: Job<Data, Result>, token: string, fetchNext?: () => boolean): Promise<Job<Data, Result> | undefined> {
    let next: Job<Data, Result> | undefined
    try {
      if (!await this.#holds(job, token)) return undefined
      next = (await super.processJob(job, token, fetchNext)) ?? undefined
      return next
    } finally {
      // The next job has the place of the one before.
      if (next === undefined) this.places?.leave(this.name)
    }
  }

  protected override async handleCompleted (
    result: Result, job: Job<Data, Result>, token: string, fetchNext?: () => boolean, span?: Span
  ): Promise<Job<Data, Result>> {
    try {
      return await this.#settle(job, token, async () => await super.handleCompleted(result, job, token, this.#mayFetch(fetchNext), span))
    } catch (error) {
      if (!bullmq.isNotConnectionError(asError(error))) throw error
      // The job has done its work: another attempt would do it again.
      throw new bullmq.UnrecoverableError(`its outcome could not be stored: ${asError(error).message}`)
    }
  }

  protected override async handleFailed (
    error: Error, job: Job<Data, Result>, token: string, fetchNext?: () => boolean, span?: Span
  ): Promise<Job<Data, Result>> {
    // After such an error the job has not ended. BullMQ would take the next job with another command, which needs a place of its own.
    const mustStop = error instanceof PutOffError || (this.places !== undefined && movedOn.some(Kind => error instanceof Kind))
    return await this.#settle(job, token, async () => await super.handleFailed(
      error, job, token, mustStop ? () => false : this.#mayFetch(fetchNext), span
    ))
  }

  /** Whether the command that settles a job takes the next one, which then has its place. */
  #mayFetch (fetchNext: () => boolean = () => true): () => boolean {
    return () => this.mayTake() && fetchNext() && this.places?.mayKeep(this.name) !== false
  }

  protected override createJob (fields: TakenFields, id: string): Job<Data, Result> {
    const job = super.createJob(fields, id)
    if (fields.isUnbegun === true) this.backend.runs.noteUnbegun(job)
    Object.assign(job, { [askedAt]: fields.askedAt })
    this.#awayUntil = performance.now() + this.stayAwayMs(id)
    this.#isYielding = false
    return job
  }

  protected override getBlockTimeout (blockUntil: number): number {
    this.#hasAsked = true
    return super.getBlockTimeout(this.#isYielding && blockUntil > 0 ? blockUntil + yieldMs : blockUntil)
  }

  protected override async moveToActive (token: string, name?: string): Promise<Job<Data, Result>> {
    this.#hasAsked = true
    const { places } = this
    // Another process may have a place for what this one was woken for.
    if (!this.mayTake() || places?.hasFree === false) this.backend.wakeUps.passOn().catch((error: unknown) => { this.emit('error', asError(error)) })
    const awayMs = this.#awayUntil - performance.now()
    if (awayMs > 0) await this.#rest(awayMs)
    let job: Job<Data, Result> | undefined
    if (places === undefined) {
      if (this.mayTake()) job = await super.moveToActive(token, name)
    } else if (await places.take(this.name, this.#closing.signal)) {
      try {
        if (this.mayTake()) job = await super.moveToActive(token, name)
      } finally {
        if (job === undefined) places.leave(this.name)
      }
    }
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- BullMQ's own answers the same where there is no job.
    return job as Job<Data, Result>
  }

  async #settle<T> (job: Job<Data, Result>, token: string, settle: () => Promise<T>): Promise<T> {
    return await this.#loop.whileSettling(this.#settleAtLast(job, token, settle))
  }

  /** Settles a job, again and again while Redis can't take it; its lock is renewed meanwhile. */
  async #settleAtLast<T> (job: Job<Data, Result>, token: string, settle: () => Promise<T>): Promise<T> {
    const id = idOf(job)
    try {
      for (;;) {
        try {
          return await settle()
        } catch (error) {
          // BullMQ itself waits for a connection.
          if (!mayRedisTakeItLater(error) || !bullmq.isNotConnectionError(asError(error))) throw error
          // BullMQ untracks a job before it settles it.
          this.locks.trackJob(id, token)
          await delay(pauseMs)
        }
      }
    } finally {
      this.lockManager.untrackJob(id)
    }
  }

  /** Takes a job, waiting for one; resolves with undefined from time to time, and when Redis can't be reached. */
  async #take (token: string): Promise<Job<Data, Result> | undefined> {
    this.#hasAsked = false
    try {
      const job = await this.getNextJob(token) as Job<Data, Result> | undefined
      // Someone has limited the queue's rate.
      if (job === undefined && !this.#hasAsked) await this.#rest(pauseMs)
      return job
    } catch (error) {
      if (bullmq.isNotConnectionError(asError(error)) && this.closing === undefined) this.emit('error', asError(error))
      await this.#rest(this.opts.runRetryDelay ?? pauseMs)
      return undefined
    }
  }

  /**
   * Counts the time of the lock of a job that was taken, and says whether it is still held: the answer to the command that took
   * the job may have been on its way for longer than the lock lasts.
   */
  async #holds (job: Job<Data, Result> & TakingNotes, token: string): Promise<boolean> {
    const id = idOf(job)
    const since = job[askedAt] ?? performance.now()
    if (performance.now() - since < lateMs) {
      this.locks.trackRun(id, token, since)
      return true
    }
    try {
      return await this.locks.isHeld(id, token)
    } catch (error) {
      this.emit('error', asError(error))
      return false
    }
  }

  /** Waits, but not while the worker closes. */
  async #rest (ms: number): Promise<void> {
    if (this.closing !== undefined) return
    const closing = new AbortController()
    const end = (): void => { closing.abort() }
    this.once('closing', end)
    await delay(ms, undefined, { signal: closing.signal }).catch(() => {})
    this.off('closing', end)
  }
}
