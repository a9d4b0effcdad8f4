import type { Job } from 'bullmq'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { asError } from '@toolyard/contract/terms'
import { idOf } from '@toolyard/store'
import { bullmq } from '../record/bullmq.ts'
import type { FastBackend } from './fast-backend.ts'
import { JobWorker, pauseMs } from './job-worker.ts'

/** The loop waits so many turns of the event loop for a job to end. A job that hasn't ended by then is a long one. */
const shortTurns = 3

/**
 * The worker with a loop of its own, which starts each job as soon as it is taken. BullMQ's loop fills all places first,
 * which costs round trips: docs/decisions/0017-eager-worker.md.
 */
export class EagerWorker<Data, Result> extends JobWorker<Data, Result, FastBackend> {
  /** One promise for each place in use. In it run a job, and then each job that came with the settlement of the one before. */
  readonly #lanes = new Set<Promise<void>>()
  #laneEnded = (): void => {}
  /** Jobs that are being settled; never rejected. */
  readonly #ending = new Set<Promise<void>>()
  #hasAsked = false

  /** Serves until the worker is closed or paused; resolves when its last job has ended. */
  override async run (): Promise<void> {
    if (this.running) throw new Error('Worker is already running.')
    this.running = true
    try {
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
        const awayMs = this.stayAwayMs(idOf(job))
        if (awayMs > 0) await this.rest(awayMs)
      }
      while (this.#lanes.size >= this.concurrency) await new Promise<void>(resolve => { this.#laneEnded = resolve })
    }
    await Promise.all(this.#lanes)
  }

  /** Takes a job, waiting for one; resolves with undefined from time to time, and when Redis can't be reached. */
  async #take (token: string): Promise<Job<Data, Result> | undefined> {
    this.#hasAsked = false
    try {
      const job = await this.getNextJob(token) as Job<Data, Result> | undefined
      // Someone has limited the queue's rate.
      if (job === undefined && !this.#hasAsked) await this.rest(pauseMs)
      return job
    } catch (error) {
      if (bullmq.isNotConnectionError(asError(error)) && this.closing === undefined) this.emit('error', asError(error))
      await this.rest(this.opts.runRetryDelay ?? pauseMs)
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
      this.emit('error', asError(error))
    }
  }

  /** The script that settles a job also takes the next one: while one is being settled, no other request is needed. */
  async #anyEnd (): Promise<void> {
    for (let turn = 0; turn < shortTurns && this.#ending.size === 0; turn++) await nextTurn()
    if (this.#ending.size > 0) await Promise.race(this.#ending)
  }

  protected override async settle<T> (job: Job<Data, Result>, token: string, settle: () => Promise<T>): Promise<T> {
    const settling = super.settle(job, token, settle)
    const over = settling.then(() => {}, () => {})
    this.#ending.add(over)
    try {
      return await settling
    } finally {
      this.#ending.delete(over)
    }
  }

  /** This loop starts whatever comes, also while it waits for a place. */
  protected override mayFetch (fetchNext: () => boolean = () => true): () => boolean {
    return () => this.mayTake() && fetchNext() && this.places?.mayKeep(this.name) !== false
  }

  protected override async moveToActive (token: string, name?: string): Promise<Job<Data, Result>> {
    this.#hasAsked = true
    return await super.moveToActive(token, name)
  }

  protected override getBlockTimeout (blockUntil: number): number {
    this.#hasAsked = true
    return super.getBlockTimeout(blockUntil)
  }
}
