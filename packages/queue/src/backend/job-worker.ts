import type { Job } from 'bullmq'
import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { asError } from '@toolyard/contract/terms'
import { fromRedis, mayRedisTakeItLater, idOf } from '@toolyard/store'
import { bullmq } from '../record/bullmq.ts'
import type { JobBackend, NextJob } from './job-backend.ts'
import { JobTaker, type Taken, type TakerOptions, type WorkerQueue } from './job-taker.ts'
import { LockRenewal } from './lock-renewal.ts'

/** What Redis can't take, or what can't be sent, is done again after so many milliseconds. */
const pauseMs = { refused: 50, unreachable: 500 }
/** A job whose taking was answered later than this is asked for again before it runs, in milliseconds. */
const lateMs = 500
/** The loop waits so many turns of the event loop for a job to end. A job that hasn't ended by then is a long one. */
const shortTurns = 3

/** How a run ended. */
export type End<Result> =
  | { kind: 'succeeded', result: Result }
  /** The job runs again while it has attempts left, unless `isFinal`; after `pauseMs`, where its options leave that open. */
  | { kind: 'failed', reason: string, isFinal: boolean, pauseMs?: number }

/** BullMQ asks a `backoffStrategy` of it how long the job waits. */
export class RunError extends Error {
  readonly pauseMs: number | undefined

  constructor ({ reason, pauseMs }: Extract<End<never>, { kind: 'failed' }>) {
    super(reason)
    this.pauseMs = pauseMs
  }
}

/** For a job that was run. `left`: it is elsewhere by now: put off, parked or given back, or another worker's. */
export type Outcome<Result> = End<Result> | typeof left

export const left = { kind: 'left' } as const

/** A run after which no other attempt follows. */
export function failed (reason: string): { kind: 'failed', reason: string, isFinal: boolean } {
  return { kind: 'failed', reason, isFinal: true }
}

/** See `JobWorker.repeat`. */
export type Repeat = <T>(operation: () => Promise<T>) => Promise<T>

export interface JobWorkerOptions<Data, Result> extends TakerOptions<Data, Result> {
  /** Jobs that run at once. */
  concurrency: number
  lockMs: number
  /** A lock is renewed after half of this time at the earliest, and after all of it at the latest. */
  renewMs: number
  run: (job: Job<Data, Result>, token: string) => Promise<Outcome<Result>>
  onSettled?: (job: Job<Data, Result>) => void
  /** Gets the ids of jobs that are somebody else's, or may soon be. */
  onLost?: (ids: string[]) => void
}

/**
 * Runs the jobs of one queue side by side, each as soon as it is taken: docs/decisions/0016-replace-bullmq-parts.md. An outcome
 * isn't lost while Redis can't take it, and a worker that has put a job off leaves it to other workers.
 */
export class JobWorker<Data, Result> {
  readonly backend: JobBackend
  readonly #options: JobWorkerOptions<Data, Result>
  readonly #taker: JobTaker<Data, Result>
  readonly #locks: LockRenewal
  readonly #leavePlace: () => void
  readonly #closing = new AbortController()
  #serving: Promise<void> | undefined
  /** One promise for each place in use. In it run a job, and then each job that came with the settlement of the one before. */
  readonly #lanes = new Set<Promise<void>>()
  #laneEnded = (): void => {}
  /** Jobs that are being settled; never rejected. */
  readonly #settling = new Set<Promise<void>>()

  constructor (queue: WorkerQueue<Data, Result>, options: JobWorkerOptions<Data, Result>) {
    const { lockMs, renewMs, places, onLost = () => {}, onError } = options
    this.backend = queue.backend
    this.#options = options
    this.#taker = new JobTaker(queue, options, this.#closing.signal)
    this.#locks = new LockRenewal(this.backend, { lockMs, everyMs: renewMs, onLost, onError })
    this.#leavePlace = () => { places?.leave(queue.name) }
    queue.on('error', onError)
  }

  /** Serves until it is closed. */
  start (): void {
    this.#locks.start()
    this.#serving = this.#serve()
  }

  /** Takes no more jobs; resolves when its last one has ended. */
  async close (): Promise<void> {
    this.#closing.abort()
    await this.backend.disconnectBlocking().catch(this.#options.onError)
    await this.#serving
    this.#locks.close()
    await this.backend.close().catch(this.#options.onError)
  }

  /** Takes the jobs whose locks have ended from their workers, and wakes a worker for what waits though nobody was woken. */
  async recover (): Promise<void> {
    await this.backend.moveStalledJobsToWait()
    await this.backend.wakeUps.wakeForWork()
  }

  /** See `JobTaker`. */
  yieldToOthers (): void {
    this.#taker.yieldToOthers()
  }

  /** Call it before a job is given back: from then on nobody is told that its lock is gone. */
  leaveJob (id: string): void {
    this.#locks.leaveJob(id)
  }

  /**
   * Does what concerns a job again and again while Redis can't take it, as long as its lock is renewed. Each operation is one
   * command, or the same when it is begun anew.
   *
   * @throws what Redis answers else; and what it answered last, when the lock may be another worker's
   */
  async repeat<T> (id: string, operation: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await operation()
      } catch (error) {
        const isCutOff = isUnreachable(error)
        const isOver = isCutOff ? this.#closing.signal.aborted : !mayRedisTakeItLater(error)
        if (isOver || !this.#locks.isTracked(id)) throw error
        await delay(isCutOff ? pauseMs.unreachable : pauseMs.refused)
      }
    }
  }

  async #serve (): Promise<void> {
    const id = randomUUID()
    for (let taken = 0; !this.#closing.signal.aborted; taken++) {
      const job = await this.#taker.take(`${id}:${taken}`)
      if (job !== undefined) {
        const lane = this.#runLane(job).finally(() => {
          this.#lanes.delete(lane)
          this.#laneEnded()
        })
        this.#lanes.add(lane)
        await this.#anySettles()
      }
      while (this.#lanes.size >= this.#options.concurrency) await new Promise<void>(resolve => { this.#laneEnded = resolve })
    }
    await Promise.all(this.#lanes)
  }

  /** The command that settles a job also takes the next one: while one is being settled, no other is needed. */
  async #anySettles (): Promise<void> {
    for (let turn = 0; turn < shortTurns && this.#settling.size === 0; turn++) await nextTurn()
    if (this.#settling.size > 0) await Promise.race(this.#settling)
  }

  /** Runs a job, and then those that were taken with the same command that settled the one before. */
  async #runLane (first: Taken<Data, Result>): Promise<void> {
    try {
      for (let taken: Taken<Data, Result> | undefined = first; taken !== undefined;) taken = await this.#run(taken)
    } catch (error) {
      this.#options.onError(asError(error))
    }
    this.#leavePlace()
  }

  async #run (taken: Taken<Data, Result>): Promise<Taken<Data, Result> | undefined> {
    const { job, token } = taken
    try {
      if (!await this.#holds(taken)) return undefined
      const outcome = await this.#outcomeOf(job, token)
      if (outcome.kind === 'left') return undefined
      const settling = this.#settle(job, token, outcome)
      const over = settling.then(() => {}, () => {})
      this.#settling.add(over)
      return await settling.finally(() => { this.#settling.delete(over) })
    } finally {
      this.#locks.untrackJob(idOf(job), token)
    }
  }

  async #outcomeOf (job: Job<Data, Result>, token: string): Promise<Outcome<Result>> {
    // BullMQ's word for one whose worker was lost too often, or whose parent has failed.
    if (job.deferredFailure !== undefined) return failed(job.deferredFailure)
    try {
      return await this.#options.run(job, token)
    } catch (error) {
      // What it was repeated for is over. Who takes the job when its lock has ended finds that a run was lost.
      return isTakenLater(error) ? left : { kind: 'failed', reason: asError(error).message, isFinal: false }
    }
  }

  /**
   * Counts the time of the lock of a job that was taken, and says whether it is still held: the answer to the command that took
   * the job may have been on its way for longer than the lock lasts.
   */
  async #holds ({ job, token, askedAt }: Taken<Data, Result>): Promise<boolean> {
    if (performance.now() - askedAt < lateMs) {
      this.#locks.trackRun(idOf(job), token, askedAt)
      return true
    }
    try {
      return await this.#locks.isHeld(idOf(job), token)
    } catch (error) {
      this.#options.onError(asError(error))
      return false
    }
  }

  /** Gives the next job. */
  async #settle (job: Job<Data, Result>, token: string, end: End<Result>): Promise<Taken<Data, Result> | undefined> {
    const id = idOf(job)
    this.leaveJob(id)
    try {
      return await this.repeat(id, () => this.#end(job, token, end))
    } catch (error) {
      if (isTakenLater(error)) return undefined
      const reason = `its outcome could not be stored: ${asError(error).message}`
      this.#options.onError(new Error(`Job ${id}: ${reason}`, { cause: error }))
      // The job has done its work: another attempt would do it again.
      return end.kind === 'failed' ? undefined : await this.#settle(job, token, failed(reason))
    }
  }

  async #end (job: Job<Data, Result>, token: string, end: End<Result>): Promise<Taken<Data, Result> | undefined> {
    const takesNext = this.#taker.mayTakeNext()
    const askedAt = performance.now()
    const next: unknown = end.kind === 'succeeded'
      ? await job.moveToCompleted(end.result, token, takesNext)
      : await job.moveToFailed(end.isFinal ? new bullmq.UnrecoverableError(end.reason) : new RunError(end), token, takesNext)
    // A run that will be followed by another one fails without an end.
    if (job.finishedOn !== undefined) this.#options.onSettled?.(job)
    return Array.isArray(next) ? this.#taker.taken(fromRedis<NextJob>(next), token, askedAt) : undefined
  }
}

function isUnreachable (error: unknown): boolean {
  return !bullmq.isNotConnectionError(asError(error))
}

function isTakenLater (error: unknown): boolean {
  return isUnreachable(error) || mayRedisTakeItLater(error)
}
