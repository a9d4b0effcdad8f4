import type { WorkerRecord } from '@toolyard/contract'
import { asError } from '@toolyard/contract/terms'
import { CallbackWorker } from '../callbacks/callback-worker.ts'
import { Announcer } from './announcer.ts'
import { CancelledJobs } from '../record/cancellation.ts'
import type { WorkerPoolOptions } from './handler.ts'
import { JobCanceller } from '../change/job-canceller.ts'
import { cancelChannel, queuesChannel, Replicas, subscribe } from '@toolyard/store'
import { OutputStore } from '../read/output-store.ts'
import { QueueDirectory } from '../queues/queue-directory.ts'
import { TenantPlaces } from './tenant-places.ts'
import { LostJobs } from '../upkeep/lost-jobs.ts'
import { QueueWorker } from './queue-worker.ts'
import { SharedPlaces } from '../backend/shared-places.ts'
import { openSharedWait, type SharedWait } from '../backend/shared-wait.ts'
import { JobQueues } from '../queues/job-queues.ts'
import { promote } from '../queues/release.ts'
import { SerialLock } from '../queues/serial-lock.ts'
import { Upkeep } from '../upkeep/upkeep.ts'

/** How often a pool that serves all queues looks for new ones that it hasn't heard of: an older release tells of none. */
const lookMs = 2_000

/** Takes jobs from queues and settles each of them exactly once. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions
  readonly #directory: QueueDirectory
  readonly #announcer: Announcer
  readonly #outputs: OutputStore
  readonly #cancelled = new CancelledJobs()
  readonly #serialLock: SerialLock
  readonly #places: TenantPlaces
  readonly #shared: SharedPlaces | undefined
  readonly #wait: SharedWait | undefined
  readonly #queues: JobQueues
  readonly #canceller: JobCanceller
  readonly #upkeep: Upkeep
  readonly #replicas: Replicas
  readonly #lostJobs: LostJobs
  readonly #workers = new Map<string, QueueWorker>()
  readonly #callbacks: CallbackWorker | undefined
  #lookTimer: NodeJS.Timeout | undefined
  /** Made since the last look began, which may not have seen them. */
  readonly #newQueues = new Set<string>()
  #isLooking = false
  #stopListening = (): void => {}
  #stopping = false

  constructor (options: WorkerPoolOptions) {
    this.#options = options
    this.#directory = new QueueDirectory(options.redis, Number.MAX_SAFE_INTEGER)
    this.#announcer = new Announcer(options.redis, error => { options.onError(error, '*') })
    this.#replicas = new Replicas(options.redis, options.replicas ?? 0)
    this.#outputs = new OutputStore(options.redis, options.retention)
    this.#queues = new JobQueues(options.redis, this.#directory, options.retention)
    this.#canceller = new JobCanceller(options.redis, this.#queues)
    this.#serialLock = new SerialLock(options.redis, this.#queues)
    this.#places = new TenantPlaces({
      redis: options.redis,
      limitOf: options.maxRunning ?? (() => 0),
      wake: async job => { await promote(this.#queues, job) },
      onError: error => { options.onError(asError(error), '*') }
    })
    this.#shared = options.totalConcurrency === undefined ? undefined : new SharedPlaces(options.totalConcurrency)
    const { redis, queues, onError } = options
    this.#wait = openSharedWait(redis, error => { onError(error, '*') })
    if (options.callbacks !== undefined) {
      this.#callbacks = new CallbackWorker(options.callbacks, { ...options, outputs: this.#outputs })
    }
    this.#lostJobs = new LostJobs({ redis, group: queues, watched: () => this.#workers, onError })
    this.#upkeep = new Upkeep({
      ...options, queues: this.#queues, canceller: this.#canceller, serialLock: this.#serialLock, directory: this.#directory
    })
  }

  /** Starts to serve; resolves when the queues that are known now are served. */
  async start (): Promise<void> {
    await subscribe(this.#options.subscriber, cancelChannel, jobId => { this.#cancel(jobId) })
    await this.#replicas.start()
    if (this.#stopping) return
    this.#callbacks?.start()
    this.#upkeep.start()
    this.#lostJobs.start()
    if (!this.#options.queues.includes('*')) {
      for (const queue of this.#options.queues) this.#serve(queue)
      return
    }
    await this.#hearOfQueues()
    await this.#look()
  }

  /** Takes no more jobs; running ones may finish within `graceMs` or until `hurry`, the rest are aborted and settled. */
  async stop (graceMs: number, hurry?: AbortSignal): Promise<void> {
    this.#stopping = true
    clearTimeout(this.#lookTimer)
    this.#stopListening()
    this.#upkeep.stop()
    this.#lostJobs.stop()
    await Promise.all([...[...this.#workers.values()].map(worker => worker.stop(graceMs, hurry)), this.#callbacks?.stop(graceMs)])
    this.#wait?.stop()
    await this.#announcer.flush()
    this.#replicas.stop()
    this.#places.stop()
    await this.#queues.close()
  }

  /** Jobs that run here, those that could in the queues that are served now, how many in one queue, and the bound over all. */
  get places (): NonNullable<WorkerRecord['places']> {
    const { concurrency, totalConcurrency: allQueues = null } = this.#options
    const most = allQueues ?? Infinity
    const used = [...this.#workers.values()].reduce((sum, { running }) => sum + running, 0)
    return { used, total: Math.min(concurrency * this.#workers.size, most), perQueue: Math.min(concurrency, most), allQueues }
  }

  #cancel (jobId: string): void {
    this.#cancelled.add(jobId)
    for (const worker of this.#workers.values()) worker.cancel(jobId)
  }

  /** Nobody hears of a queue that is made while the connection is away. */
  async #hearOfQueues (): Promise<void> {
    const { subscriber } = this.#options
    const look = (): void => {
      if (this.#stopping || this.#isLooking) return
      clearTimeout(this.#lookTimer)
      void this.#look()
    }
    await subscribe(subscriber, queuesChannel, queue => {
      this.#newQueues.add(queue)
      this.#serve(queue)
    })
    subscriber.on('ready', look)
    this.#stopListening = () => { subscriber.off('ready', look) }
  }

  async #look (): Promise<void> {
    this.#isLooking = true
    this.#newQueues.clear()
    try {
      const known = await this.#directory.list()
      for (const queue of known) this.#serve(queue)
      for (const queue of this.#workers.keys()) if (!known.includes(queue) && !this.#newQueues.has(queue)) this.#leave(queue)
    } catch (error) {
      this.#options.onError(asError(error), '*')
    }
    this.#isLooking = false
    if (!this.#stopping) this.#lookTimer = setTimeout(() => { void this.#look() }, lookMs)
  }

  #serve (queue: string): void {
    if (this.#stopping || this.#workers.has(queue)) return
    this.#workers.set(queue, new QueueWorker(queue, this.#options, {
      announcer: this.#announcer,
      outputs: this.#outputs,
      cancelled: this.#cancelled,
      serialLock: this.#serialLock,
      places: this.#places,
      shared: this.#shared,
      wait: this.#wait,
      queues: this.#queues,
      replicas: this.#replicas,
      canceller: this.#canceller
    }))
  }

  /** A queue that is known no longer has no jobs; one that still runs some here is left at a later look. */
  #leave (queue: string): void {
    const worker = this.#workers.get(queue)
    if (worker?.running !== 0) return
    this.#workers.delete(queue)
    worker.stop(0).catch((error: unknown) => { this.#options.onError(asError(error), queue) })
  }
}
