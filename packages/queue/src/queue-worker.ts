import type { CallError, JobData, OutputRecord, Settlement } from '@toolyard/contract'
import { DelayedError, UnrecoverableError, WaitingError, Worker, type Job } from 'bullmq'
import { cancelled, type CancelledJobs } from './cancellation.ts'
import { publishJobChange } from './job-change.ts'
import { JobLogWriter } from './job-log-writer.ts'
import { internalName, jobKey, keyPrefix, replyChannel } from './names.ts'
import type { OutputStore } from './output-store.ts'
import { decodeFailure, encodeFailure } from './settlement.ts'
import { parkMs, type SerialGate, type SerialJob } from './serial-gate.ts'
import type { HandlerResult, WorkerPoolOptions } from './worker-pool.ts'

/*
 * A job whose lock is not renewed for `lockMs` is taken from its worker; the check runs every `stalledCheckMs`.
 * Together they bound the time after which a dead worker's job is taken up again: below the 5 s of the promise.
 */
const lockMs = 3_500
const renewMs = 1_000
const stalledCheckMs = 1_000
/** A job that has lost its worker so often is failed without another try. */
const maxLostRuns = 2

const lockLost: CallError = { code: 'WORKER_LOST', message: 'The worker lost its hold on the job' }
const stopped: CallError = { code: 'WORKER_LOST', message: 'The worker stopped before the tool had finished' }

/** What the workers of all queues of a pool share. */
export interface QueueWorkerParts {
  outputs: OutputStore
  cancelled: CancelledJobs
  gate: SerialGate
}

interface Run {
  signal: AbortSignal
  log: JobLogWriter
}

/** Serves one queue. */
export class QueueWorker {
  readonly #queue: string
  readonly #options: WorkerPoolOptions
  readonly #outputs: OutputStore
  readonly #cancelled: CancelledJobs
  readonly #gate: SerialGate
  readonly #worker: Worker<JobData, OutputRecord>
  readonly #running = new Map<string, AbortController>()

  constructor (queue: string, options: WorkerPoolOptions, parts: QueueWorkerParts) {
    this.#queue = queue
    this.#options = options
    this.#outputs = parts.outputs
    this.#cancelled = parts.cancelled
    this.#gate = parts.gate
    this.#worker = new Worker<JobData, OutputRecord>(internalName(queue), (job, token) => this.#process(job, token), {
      connection: options.redis,
      prefix: keyPrefix,
      concurrency: options.concurrency,
      lockDuration: lockMs,
      lockRenewTime: renewMs,
      stalledInterval: stalledCheckMs,
      maxStalledCount: maxLostRuns,
      runRetryDelay: 500,
      drainDelay: 5,
      skipVersionCheck: true
    })
    this.#worker.on('completed', (job, output) => { this.#reply(job, { ok: true, output }) })
    this.#worker.on('failed', (job, error) => {
      // A run that will be followed by another one fails without an end.
      if (job?.finishedOn !== undefined) this.#reply(job, { ok: false, error: decodeFailure(error.message) })
    })
    this.#worker.on('lockRenewalFailed', (ids: string[]) => { for (const id of ids) this.#running.get(id)?.abort(lockLost) })
    this.#worker.on('error', error => { options.onError(error, queue) })
  }

  /** Ends the run of a job that was cancelled, if it runs here. */
  cancel (jobId: string): void {
    this.#running.get(jobId)?.abort(cancelled)
  }

  /** See `WorkerPool.stop`. */
  async stop (graceMs: number): Promise<void> {
    const timer = setTimeout(() => { for (const run of this.#running.values()) run.abort(stopped) }, graceMs)
    await this.#worker.close()
    clearTimeout(timer)
  }

  async #process (job: Job<JobData, OutputRecord>, token: string | undefined): Promise<OutputRecord> {
    const id = job.id ?? ''
    const abort = new AbortController()
    this.#running.set(id, abort)
    const { redis, retention } = this.#options
    const log = new JobLogWriter({ redis, queue: this.#queue, jobId: id, retention, onError: this.#report })
    this.#tellWatchers(id)
    try {
      if (this.#cancelled.has(id)) throw new WaitingError()
      if (await this.#isMarked(job)) throw new UnrecoverableError(encodeFailure(cancelled))
      const run = { signal: abort.signal, log }
      const result = job.data.serial === true ? await this.#handleSerially(job, token, run) : await this.#handle(job, run)
      // Who sees the final state finds the whole log.
      await log.close()
      // Whoever cancels a job settles it; BullMQ leaves a job alone that somebody else has moved.
      if (abort.signal.reason === cancelled) throw new WaitingError()
      return await this.#end(job, token, result)
    } finally {
      this.#running.delete(id)
    }
  }

  async #handle (job: Job<JobData>, { signal, log }: Run): Promise<HandlerResult> {
    const lostBefore = job.attemptsStarted > job.attemptsMade + 1
    return await this.#options.handle({ id: job.id ?? '', queue: this.#queue, type: job.name, data: job.data, lostBefore, signal, log: line => { log.write(line) } })
  }

  /** Runs the job of a serial tool when it is its turn, else parks it, as if it hadn't been started. */
  async #handleSerially (job: Job<JobData>, token: string | undefined, run: Run): Promise<HandlerResult> {
    const serial: SerialJob = { tool: job.data.tool, queue: this.#queue, id: job.id ?? '' }
    if (!await this.#gate.enter(serial)) {
      await this.#options.redis.hincrby(jobKey(this.#queue, serial.id), 'ats', -1)
      await job.moveToDelayed(Date.now() + parkMs, token)
      await this.#gate.wakeIfFree(serial)
      throw new DelayedError()
    }
    try {
      return await this.#handle(job, run)
    } finally {
      await this.#gate.release(serial)
    }
  }

  /** Whether the job was cancelled by a process that died before it settled it: its lock ran out then. */
  async #isMarked (job: Job<JobData>): Promise<boolean> {
    return job.stalledCounter > 0 && await this.#options.redis.hexists(jobKey(this.#queue, job.id ?? ''), 'cancelled') === 1
  }

  async #end (job: Job<JobData, OutputRecord>, token: string | undefined, result: HandlerResult): Promise<OutputRecord> {
    if (result.ok) return await this.#outputs.save(this.#queue, job.id ?? '', result.json, result.cut)
    if ('requeue' in result) {
      await job.moveToWait(token)
      this.#tellWatchers(job.id ?? '')
      throw new WaitingError()
    }
    const reason = encodeFailure(result.error)
    throw result.retry === true ? new Error(reason) : new UnrecoverableError(reason)
  }

  /** Tells who watches, and the API process that waits. Should this get lost, its sweep finds the record. */
  #reply (job: Job<JobData>, settlement: Settlement): void {
    this.#tellWatchers(job.id ?? '')
    if (job.data.replyTo === undefined) return
    const message = JSON.stringify({ id: job.id, settlement })
    this.#options.redis.publish(replyChannel(job.data.replyTo), message).catch(this.#report)
  }

  #tellWatchers (id: string): void {
    publishJobChange(this.#options.redis, id, 'job').catch(this.#report)
  }

  readonly #report = (error: unknown): void => { this.#options.onError(error as Error, this.#queue) }
}
