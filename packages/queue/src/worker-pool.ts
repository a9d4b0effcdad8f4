import type { CallError, JobData, OutputCut, SandboxState } from '@toolyard/contract'
import { CallbackWorker, type CallbackOptions } from './callback-worker.ts'
import type { Redis } from './connection.ts'
import { Announcer } from './announcer.ts'
import type { StepWait } from './flow/job-flow.ts'
import { CancelledJobs } from './cancellation.ts'
import type { LogLine } from './job-log-writer.ts'
import { JobCanceller } from './job-canceller.ts'
import { cancelChannel } from './names.ts'
import { OutputStore } from './output-store.ts'
import { QueueDirectory } from './queue-directory.ts'
import { QueueWorker } from './queue-worker.ts'
import { JobQueues } from './job-queues.ts'
import { SerialGate } from './serial-gate.ts'
import { Replicas, type WantedReplicas } from './replicas.ts'
import type { Retention } from './retention.ts'
import { subscribe } from './subscription.ts'
import { Upkeep } from './upkeep/upkeep.ts'

/** A job that this process has taken. */
export interface ClaimedJob {
  id: string
  queue: string
  type: string
  data: JobData
  /** 0..10, higher first. */
  priority: number
  /** How many runs of the job have failed before. */
  attempt: number
  /** An earlier worker began to run this job and didn't settle it: it died, or lost its lock. */
  lostBefore: boolean
  /** To be called before a tool runs that may run only once; false when the job is another worker's by now. Rejected with ReplicasMissingError when the tool must not run now. */
  begin: () => Promise<boolean>
  /** Milliseconds from when the job was due until it was taken; undefined for a later attempt. */
  waitedMs: number | undefined
  /** Aborted when the job is no longer this worker's, or the pool stops; `signal.reason` is a `CallError`. */
  signal: AbortSignal
  /** Adds a line to the job's log, where it can be read at once; it must hold no secret. */
  log: (line: LogLine) => void
}

/** How the handler ends a job. */
export type HandlerResult =
  /** `value` is what `json` says. */
  | { ok: true, json: string, value: unknown, cut?: OutputCut, sandbox?: SandboxState }
  /** `retry`: the failure may pass, so that the job runs again while it has attempts left (X26). */
  | { ok: false, error: CallError, retry?: boolean, sandbox?: SandboxState }
  /** The job has made jobs and goes on when one of them has ended; until then it holds no place. */
  | { ok: false, wait: StepWait }
  /** Back to the queue: nothing was done, and the run counts as lost. */
  | { ok: false, requeue: true }
  /** The job is another worker's by now. */
  | { ok: false, taken: true }
  /** What the job needs is elsewhere, or not there now: it waits, longer each time, as if it hadn't been taken. The text says why, for the log. */
  | { ok: false, later: string }

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
  /** Undefined: the callbacks that jobs owe wait for another process. */
  callbacks?: CallbackOptions | undefined
  /** How many replicas of Redis must know that a tool begins that may run only once; 0 when absent. */
  replicas?: WantedReplicas
  onError: (error: Error, queue: string) => void
}

/** How often a pool that serves all queues looks for new ones. */
const lookMs = 250

/** Takes jobs from queues and settles each of them exactly once. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions
  readonly #directory: QueueDirectory
  readonly #announcer: Announcer
  readonly #outputs: OutputStore
  readonly #cancelled = new CancelledJobs()
  readonly #gate: SerialGate
  readonly #queues: JobQueues
  readonly #canceller: JobCanceller
  readonly #upkeep: Upkeep
  readonly #replicas: Replicas
  readonly #workers = new Map<string, QueueWorker>()
  readonly #callbacks: CallbackWorker | undefined
  #lookTimer: NodeJS.Timeout | undefined
  #stopping = false

  constructor (options: WorkerPoolOptions) {
    this.#options = options
    this.#directory = new QueueDirectory(options.redis, Number.MAX_SAFE_INTEGER)
    this.#announcer = new Announcer(options.redis, error => { options.onError(error, '*') })
    this.#replicas = new Replicas(options.redis, options.replicas ?? 0)
    this.#outputs = new OutputStore(options.redis, options.retention)
    this.#queues = new JobQueues(options.redis, this.#directory, options.retention)
    this.#canceller = new JobCanceller(options.redis, this.#queues)
    this.#gate = new SerialGate(options.redis, this.#queues)
    if (options.callbacks !== undefined) this.#callbacks = new CallbackWorker(options.callbacks, { ...options, queues: this.#queues, outputs: this.#outputs })
    this.#upkeep = new Upkeep({ ...options, queues: this.#queues, canceller: this.#canceller, gate: this.#gate, directory: this.#directory })
  }

  /** Starts to serve; resolves when the queues that are known now are served. */
  async start (): Promise<void> {
    await subscribe(this.#options.subscriber, cancelChannel, jobId => { this.#cancel(jobId) })
    await this.#replicas.start()
    this.#callbacks?.start()
    this.#upkeep.start()
    if (!this.#options.queues.includes('*')) {
      for (const queue of this.#options.queues) this.#serve(queue)
      return
    }
    await this.#look()
  }

  /** Takes no more jobs; running ones may finish within `graceMs` or until `hurry`, the rest are aborted and settled. */
  async stop (graceMs: number, hurry?: AbortSignal): Promise<void> {
    this.#stopping = true
    clearTimeout(this.#lookTimer)
    this.#upkeep.stop()
    await Promise.all([...[...this.#workers.values()].map(worker => worker.stop(graceMs, hurry)), this.#callbacks?.stop(graceMs)])
    await this.#announcer.flush()
    this.#replicas.stop()
    await this.#queues.close()
  }

  #cancel (jobId: string): void {
    this.#cancelled.add(jobId)
    for (const worker of this.#workers.values()) worker.cancel(jobId)
  }

  async #look (): Promise<void> {
    try {
      const known = await this.#directory.list()
      for (const queue of known) this.#serve(queue)
      for (const queue of this.#workers.keys()) if (!known.includes(queue)) this.#leave(queue)
    } catch (error) {
      this.#options.onError(error as Error, '*')
    }
    if (!this.#stopping) this.#lookTimer = setTimeout(() => { void this.#look() }, lookMs)
  }

  #serve (queue: string): void {
    if (this.#stopping || this.#workers.has(queue)) return
    this.#workers.set(queue, new QueueWorker(queue, this.#options, {
      announcer: this.#announcer, outputs: this.#outputs, cancelled: this.#cancelled, gate: this.#gate, queues: this.#queues, callbacks: this.#queues.callbacks, replicas: this.#replicas, canceller: this.#canceller
    }))
  }

  /** A queue that is known no longer has no jobs; one that still runs some here is left at a later look. */
  #leave (queue: string): void {
    const worker = this.#workers.get(queue)
    if (worker?.isIdle !== true) return
    this.#workers.delete(queue)
    worker.stop(0).catch((error: unknown) => { this.#options.onError(error as Error, queue) })
  }
}
