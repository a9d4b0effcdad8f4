import type { CallError, JobData, OutputCut } from '@toolyard/contract'
import type { Redis } from './connection.ts'
import { CancelledJobs } from './cancellation.ts'
import type { LogLine } from './job-log-writer.ts'
import { cancelChannel } from './names.ts'
import { OutputStore } from './output-store.ts'
import { QueueDirectory } from './queue-directory.ts'
import { QueueWorker } from './queue-worker.ts'
import { JobQueues } from './job-queues.ts'
import { SerialGate } from './serial-gate.ts'
import type { Retention } from './retention.ts'
import { subscribe } from './subscription.ts'

/** A job that this process has taken. */
export interface ClaimedJob {
  id: string
  queue: string
  type: string
  data: JobData
  /** An earlier worker took this job and didn't settle it: it died, or lost its lock. */
  lostBefore: boolean
  /** Aborted when the job is no longer this worker's, or the pool stops; `signal.reason` is a `CallError`. */
  signal: AbortSignal
  /** Adds a line to the job's log, where it can be read at once; it must hold no secret. */
  log: (line: LogLine) => void
}

/** How the handler ends a job. */
export type HandlerResult =
  | { ok: true, json: string, cut?: OutputCut }
  /** `retry`: the failure may pass, so that the job runs again while it has attempts left (X26). */
  | { ok: false, error: CallError, retry?: boolean }
  /** Back to the queue, for another worker. */
  | { ok: false, requeue: true }

/** What a pool serves, and what it does with a job. */
export interface WorkerPoolOptions {
  redis: Redis
  /** Hears of cancelled jobs; may be shared. */
  subscriber: Redis
  retention: Retention
  /** Public queue names, or `['*']` for all that exist and will exist. */
  queues: readonly string[]
  /** Jobs that run at once, for each queue: one queue's load leaves the others their places. */
  concurrency: number
  handle: (job: ClaimedJob) => Promise<HandlerResult>
  onError: (error: Error, queue: string) => void
}

/** How often a pool that serves all queues looks for new ones. */
const lookMs = 250

/** Takes jobs from queues and settles each of them exactly once. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions
  readonly #directory: QueueDirectory
  readonly #outputs: OutputStore
  readonly #cancelled = new CancelledJobs()
  readonly #gate: SerialGate
  readonly #queues: JobQueues
  readonly #workers = new Map<string, QueueWorker>()
  #lookTimer: NodeJS.Timeout | undefined
  #stopping = false

  constructor (options: WorkerPoolOptions) {
    this.#options = options
    this.#directory = new QueueDirectory(options.redis, Number.MAX_SAFE_INTEGER)
    this.#outputs = new OutputStore(options.redis, options.retention)
    this.#queues = new JobQueues(options.redis, this.#directory, options.retention)
    this.#gate = new SerialGate(options.redis, this.#queues)
  }

  /** Starts to serve; resolves when the queues that are known now are served. */
  async start (): Promise<void> {
    await subscribe(this.#options.subscriber, cancelChannel, jobId => { this.#cancel(jobId) })
    if (!this.#options.queues.includes('*')) {
      for (const queue of this.#options.queues) this.#serve(queue)
      return
    }
    await this.#look()
  }

  /** Takes no more jobs; running ones may finish within `graceMs`, the rest are aborted and settled. */
  async stop (graceMs: number): Promise<void> {
    this.#stopping = true
    clearTimeout(this.#lookTimer)
    await Promise.all([...this.#workers.values()].map(worker => worker.stop(graceMs)))
    await this.#queues.close()
  }

  #cancel (jobId: string): void {
    this.#cancelled.add(jobId)
    for (const worker of this.#workers.values()) worker.cancel(jobId)
  }

  async #look (): Promise<void> {
    try {
      for (const queue of await this.#directory.list()) this.#serve(queue)
    } catch (error) {
      this.#options.onError(error as Error, '*')
    }
    if (!this.#stopping) this.#lookTimer = setTimeout(() => { void this.#look() }, lookMs)
  }

  #serve (queue: string): void {
    if (this.#stopping || this.#workers.has(queue)) return
    this.#workers.set(queue, new QueueWorker(queue, this.#options, { outputs: this.#outputs, cancelled: this.#cancelled, gate: this.#gate }))
  }
}
