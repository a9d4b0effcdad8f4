import type { CallError, JobData, OutputRecord, Settlement } from '@toolyard/contract'
import { UnrecoverableError, WaitingError, Worker, type Job } from 'bullmq'
import { internalName, keyPrefix, replyChannel } from './names.ts'
import type { OutputStore } from './output-store.ts'
import { decodeFailure, encodeFailure } from './settlement.ts'
import type { WorkerPoolOptions } from './worker-pool.ts'

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

/** Serves one queue. */
export class QueueWorker {
  readonly #queue: string
  readonly #options: WorkerPoolOptions
  readonly #outputs: OutputStore
  readonly #worker: Worker<JobData, OutputRecord>
  readonly #running = new Map<string, AbortController>()

  constructor (queue: string, options: WorkerPoolOptions, outputs: OutputStore) {
    this.#queue = queue
    this.#options = options
    this.#outputs = outputs
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
      if (job !== undefined) this.#reply(job, { ok: false, error: decodeFailure(error.message) })
    })
    this.#worker.on('lockRenewalFailed', (ids: string[]) => { for (const id of ids) this.#running.get(id)?.abort(lockLost) })
    this.#worker.on('error', error => { options.onError(error, queue) })
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
    try {
      const result = await this.#options.handle({
        id,
        queue: this.#queue,
        type: job.name,
        data: job.data,
        lostBefore: job.attemptsStarted > job.attemptsMade + 1,
        signal: abort.signal
      })
      if (result.ok) return await this.#outputs.save(this.#queue, id, result.json, result.cut)
      if (!('requeue' in result)) throw new UnrecoverableError(encodeFailure(result.error))
      await job.moveToWait(token)
      throw new WaitingError()
    } finally {
      this.#running.delete(id)
    }
  }

  /** Tells the API process that waits. Should this get lost, its sweep finds the record. */
  #reply (job: Job<JobData>, settlement: Settlement): void {
    if (job.data.replyTo === undefined) return
    const message = JSON.stringify({ id: job.id, settlement })
    this.#options.redis.publish(replyChannel(job.data.replyTo), message)
      .catch((error: unknown) => { this.#options.onError(error as Error, this.#queue) })
  }
}
