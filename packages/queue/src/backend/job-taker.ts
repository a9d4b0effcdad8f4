import type { Job, Queue } from 'bullmq'
import { setTimeout as delay } from 'node:timers/promises'
import { asError } from '@toolyard/contract/terms'
import { idOf } from '@toolyard/store'
import { bullmq } from '../record/bullmq.ts'
import type { JobBackend, NextJob } from './job-backend.ts'
import type { SharedPlaces } from './shared-places.ts'

/** A worker that takes no jobs now asks after so many milliseconds whether it may again. */
const notNowMs = 200
/** The same while the rate of a queue is limited, and where Redis can't be reached. */
const pauseMs = { limited: 50, unreachable: 500 }
/** When only another worker can run a job that this one has put off, this one looks for it so many milliseconds later than others. */
const yieldMs = 200
/** One wait for a delayed job lasts so many seconds at most. */
const longestSec = 10

export type WorkerQueue<Data, Result> = Queue<Data, Result, string, Data, Result, string, JobBackend>

export interface TakerOptions<Data, Result> {
  /** A worker that waits looks for a job after so many seconds at the latest. */
  lookSec: number
  /** Shared with the other workers of the process; absent where each has only places of its own. */
  places?: SharedPlaces | undefined
  /** Whether it takes jobs now. */
  mayTake?: (() => boolean) | undefined
  /** How long no other job is taken after the one of this id, in milliseconds. */
  stayAwayMs?: (jobId: string) => number
  onTaken?: (job: Job<Data, Result>) => void
  onError: (error: Error) => void
}

export interface Taken<Data, Result> {
  job: Job<Data, Result>
  token: string
  /** Before the command was sent that took it, by `performance.now()`. */
  askedAt: number
}

/** Takes the jobs of one queue for a worker, one at a time, each with a place where workers share them. */
export class JobTaker<Data, Result> {
  readonly #queue: WorkerQueue<Data, Result>
  readonly #options: TakerOptions<Data, Result>
  readonly #closing: AbortSignal
  /** Whether there was no job when Redis was asked last. */
  #isDrained = false
  /** When the next delayed job is due, by Redis' clock; 0 where there is none. */
  #dueAt = 0
  /** Until when the queue's rate is limited, and until when other workers have the next job, by `performance.now()`. */
  #limitedUntil = 0
  #awayUntil = 0
  #isYielding = false

  constructor (queue: WorkerQueue<Data, Result>, options: TakerOptions<Data, Result>, closing: AbortSignal) {
    this.#queue = queue
    this.#options = options
    this.#closing = closing
  }

  /** Until it takes another job, it looks later than others for the job that is about to be put off. */
  yieldToOthers (): void {
    this.#isYielding = true
  }

  /** Takes a job, waiting for one; undefined from time to time, and when Redis can't be reached. */
  async take (token: string): Promise<Taken<Data, Result> | undefined> {
    try {
      while (this.#isOpen && !this.#mayTake()) await this.#rest(notNowMs)
      await this.#stayAway()
      if (this.#limitedUntil > performance.now()) await this.#rest(pauseMs.limited)
      else if (this.#isOpen && (!this.#isDrained || await this.#isWoken())) return await this.#ask(token)
    } catch (error) {
      // The connection reports its own errors.
      if (this.#isOpen && bullmq.isNotConnectionError(asError(error))) this.#options.onError(asError(error))
      if (this.#isOpen) await this.#queue.backend.reconnectBlocking().catch(() => {})
      await this.#rest(pauseMs.unreachable)
    }
    return undefined
  }

  /** Whether the command that settles a job takes the next one, which then has its place. */
  mayTakeNext (): boolean {
    return this.#isOpen && this.#mayTake() && this.#options.places?.mayKeep(this.#queue.name) !== false
  }

  /** The job that Redis has answered with. */
  taken ([fields, id, limitMs, dueAt]: NextJob, token: string, askedAt: number): Taken<Data, Result> | undefined {
    this.#limitedUntil = limitMs > 0 ? performance.now() + limitMs : 0
    this.#dueAt = Math.max(0, dueAt)
    this.#isDrained = fields === null
    if (fields === null) return undefined
    const job = bullmq.Job.fromJSON<Data, Result, string>(this.#queue, fields, id)
    job.token = token
    if (fields.isUnbegun === true) this.#queue.backend.runs.noteUnbegun(job)
    this.#awayUntil = performance.now() + (this.#options.stayAwayMs?.(idOf(job)) ?? 0)
    this.#isYielding = false
    this.#options.onTaken?.(job)
    return { job, token, askedAt }
  }

  get #isOpen (): boolean {
    return !this.#closing.aborted
  }

  #mayTake (): boolean {
    return this.#options.mayTake?.() !== false
  }

  /** Waits; whether there may be a job to take. */
  async #isWoken (): Promise<boolean> {
    const { backend } = this.#queue
    const next = this.#dueAt
    const leftMs = next + (this.#isYielding ? yieldMs : 0) - backend.now()
    if (next > 0 && leftMs < 1) return true
    const seconds = next > 0 ? Math.min(Math.max(leftMs / 1_000, backend.minimumBlockTimeout), longestSec) : this.#options.lookSec
    this.#dueAt = 0
    const marker = await backend.waitForJob(seconds)
    if (marker === null || !this.#isOpen) return this.#isOpen
    this.#dueAt = next > 0 ? Math.min(next, marker.score) : marker.score
    return this.#dueAt - backend.now() < 1
  }

  async #ask (token: string): Promise<Taken<Data, Result> | undefined> {
    const { backend, name } = this.#queue
    const { places, onError } = this.#options
    // Another process may have a place for what this one was woken for.
    if (!this.#mayTake() || places?.hasFree === false) backend.wakeUps.passOn().catch((error: unknown) => { onError(asError(error)) })
    await this.#stayAway()
    if (places !== undefined && !await places.take(name, this.#closing)) return undefined
    let taken: Taken<Data, Result> | undefined
    try {
      const askedAt = performance.now()
      if (this.#mayTake()) taken = this.taken(await backend.moveToActive(token), token, askedAt)
    } finally {
      if (taken === undefined) places?.leave(name)
    }
    return taken
  }

  async #stayAway (): Promise<void> {
    const awayMs = this.#awayUntil - performance.now()
    if (awayMs > 0) await this.#rest(awayMs)
  }

  /** Waits, but not while the worker closes. */
  async #rest (ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#closing }).catch(() => {})
  }
}
