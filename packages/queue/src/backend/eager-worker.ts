import type { Job, Span } from 'bullmq'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { bullmq } from '../redis/bullmq.ts'
import type { JobBackend, TakenFields } from './job-backend.ts'
import { TimedWorker } from './timed-worker.ts'
import { mayPass } from '../redis/unavailable.ts'

/** How long a worker that may not ask Redis for a job waits until it tries again, in milliseconds. */
const pauseMs = 50
/** A job that isn't at its end after so many turns of the event loop takes longer. */
const shortTurns = 3

/** A job was put off: its place in the worker is free, and whether the worker takes another one is for its loop to say. */
export class PutOffError extends bullmq.DelayedError {}

/**
 * BullMQ's worker with a loop of its own, which starts each job as soon as it is taken. BullMQ's loop fills all places
 * first, which costs round trips: docs/decisions/0017-eager-worker.md.
 *
 * It is started by `run`, once all listeners are set (`autorun` must be false).
 */
export class EagerWorker<Data, Result> extends TimedWorker<Data, Result, JobBackend> {
  readonly #closing = new AbortController()
  /** The places that are taken: a job, and those that were taken with the end of the one before. */
  readonly #lanes = new Set<Promise<void>>()
  #laneEnded = (): void => {}
  /** Jobs that are being settled; never rejected. */
  readonly #ending = new Set<Promise<void>>()
  #hasAsked = false

  /** How long no other job is taken after the one of this id, in milliseconds. */
  stayAwayMs: (jobId: string) => number = () => 0

  /** Serves until the worker is closed or paused; resolves when its last job has ended. */
  override async run (): Promise<void> {
    if (this.running) throw new Error('Worker is already running.')
    this.running = true
    try {
      this.once('closing', () => { this.#closing.abort() })
      await this.startStalledCheckTimer()
      this.lockManager.start()
      this.mainLoopRunning = this.#serve()
      await this.mainLoopRunning
    } finally {
      this.running = false
    }
  }

  async #serve (): Promise<void> {
    for (let taken = 0; this.closing === undefined && !this.paused; taken++) {
      const token = `${this.id}:${taken}`
      const job = await this.#take(token)
      if (job !== undefined) {
        const lane = this.#runLane(job, token).finally(() => {
          this.#lanes.delete(lane)
          this.#laneEnded()
        })
        this.#lanes.add(lane)
        await this.#anyEnd()
        const awayMs = this.stayAwayMs(job.id ?? '')
        if (awayMs > 0) await this.#pause(awayMs)
      }
      while (this.#lanes.size >= this.concurrency) await new Promise<void>(resolve => { this.#laneEnded = resolve })
    }
    await Promise.all(this.#lanes)
  }

  /** Takes a job, waiting for one; resolves with undefined from time to time, and when Redis can't be reached. */
  async #take (token: string): Promise<Job<Data, Result> | undefined> {
    this.#hasAsked = false
    try {
      this.backend.waitAs(token)
      const job = await this.getNextJob(token) as Job<Data, Result> | undefined
      // Someone has limited the queue's rate.
      if (job === undefined && !this.#hasAsked) await this.#pause(pauseMs)
      return job
    } catch (error) {
      if (bullmq.isNotConnectionError(error as Error) && this.closing === undefined) this.emit('error', error as Error)
      await this.#pause(this.opts.runRetryDelay ?? pauseMs)
      return undefined
    }
  }

  /** Runs a job, and then those that were taken with the same command that settled the one before. */
  async #runLane (first: Job<Data, Result>, token: string): Promise<void> {
    try {
      for (let job: Job<Data, Result> | undefined = first; job !== undefined;) {
        job = (await this.processJob(job, job.token ?? token)) ?? undefined
      }
    } catch (error) {
      this.emit('error', error as Error)
    }
  }

  /** What settles a job also takes the next: while one is being settled, nobody else need ask. */
  async #anyEnd (): Promise<void> {
    for (let turn = 0; turn < shortTurns && this.#ending.size === 0; turn++) await nextTurn()
    if (this.#ending.size > 0) await Promise.race(this.#ending)
  }

  /** Settles a job, again and again while Redis can't take it; the job is held meanwhile. */
  async #settle<T> ({ id = '' }: Job<Data, Result>, token: string, settle: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await settle()
      } catch (error) {
        // BullMQ itself waits for a connection.
        if (!mayPass(error) || !bullmq.isNotConnectionError(error as Error)) throw error
        this.lockManager.trackJob(id, token, 0)
        await delay(pauseMs)
      } finally {
        this.lockManager.untrackJob(id)
      }
    }
  }

  async #end<T> (settling: Promise<T>): Promise<T> {
    const over = settling.then(() => {}, () => {})
    this.#ending.add(over)
    try {
      return await settling
    } finally {
      this.#ending.delete(over)
    }
  }

  async #pause (ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#closing.signal }).catch(() => {})
  }

  protected override async handleCompleted (result: Result, job: Job<Data, Result>, token: string, fetchNext?: () => boolean, span?: Span): Promise<Job<Data, Result>> {
    try {
      return await this.#end(this.#settle(job, token, async () => await super.handleCompleted(result, job, token, fetchNext, span)))
    } catch (error) {
      if (!bullmq.isNotConnectionError(error as Error)) throw error
      // The job has done its work: another attempt would do it again.
      throw new bullmq.UnrecoverableError(`its outcome could not be stored: ${(error as Error).message}`)
    }
  }

  protected override async handleFailed (error: Error, job: Job<Data, Result>, token: string, fetchNext?: () => boolean, span?: Span): Promise<Job<Data, Result>> {
    return await this.#end(this.#settle(job, token, async () => await super.handleFailed(error, job, token, error instanceof PutOffError ? () => false : fetchNext, span)))
  }

  protected override createJob (fields: TakenFields, id: string): Job<Data, Result> {
    const job = super.createJob(fields, id)
    if (fields.isUnbegun === true) this.backend.runs.noteUnbegun(job)
    return job
  }

  protected override async moveToActive (token: string, name?: string): Promise<Job<Data, Result>> {
    this.#hasAsked = true
    return await super.moveToActive(token, name)
  }

  protected override getBlockTimeout (blockUntil: number): number {
    this.#hasAsked = true
    return Math.min(super.getBlockTimeout(blockUntil), this.backend.maximumBlockTimeout)
  }
}
