import type { JobData, OutputRecord } from '@toolyard/contract'
import type { Job } from 'bullmq'
import type { OpenCallback } from '../queues/callback-outbox.ts'
import type { Redis } from '../redis/connection.ts'
import type { JobQueues } from '../queues/job-queues.ts'
import { callbackSweepKey, jobKey } from '../redis/names.ts'
import { takeTurn } from '../redis/commands/turn.ts'

const intervalMs = 2_000
/** Entries that one sweep looks at, and how many of them at once. */
const perSweep = 2_000
const chunkSize = 500

/**
 * Posts the callbacks of jobs that have ended and whose settler died before it could. One worker process of all sweeps
 * at a time, every 2 s; when there are many entries a sweep goes on where the last one of this process ended.
 */
export class CallbackSweep {
  readonly #redis: Redis
  readonly #queues: JobQueues
  readonly #onError: (error: Error) => void
  #cursor = '0'
  #timer: NodeJS.Timeout | undefined
  #sweeping: Promise<void> = Promise.resolve()
  #stopped = false

  constructor (redis: Redis, queues: JobQueues, onError: (error: Error) => void) {
    this.#redis = redis
    this.#queues = queues
    this.#onError = onError
  }

  start (): void {
    if (this.#stopped) return
    this.#timer = setTimeout(() => {
      this.#sweeping = this.#sweep().catch(this.#onError).finally(() => { this.start() })
    }, intervalMs)
  }

  /** Resolves when nothing is under way any more. */
  async stop (): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#sweeping
  }

  async #sweep (): Promise<void> {
    if (!await takeTurn(this.#redis, callbackSweepKey, intervalMs / 2)) return
    for (let seen = 0; seen < perSweep && !this.#stopped; seen += chunkSize) {
      const { cursor, open } = await this.#queues.callbacks.scan(this.#cursor, chunkSize)
      this.#cursor = cursor
      const ended = await Promise.all(open.map(({ queue, jobId }) => this.#redis.hmget(jobKey(queue, jobId), 'timestamp', 'finishedOn')))
      for (const [index, entry] of open.entries()) {
        const [timestamp, finishedOn] = ended[index] ?? []
        // Who takes a job enters it, so that it exists; one that doesn't was removed.
        if (timestamp === null) await this.#queues.callbacks.strikeOut(entry)
        else if (finishedOn !== null) await this.#post(entry)
      }
      if (cursor === '0') return
    }
  }

  async #post ({ queue, jobId }: OpenCallback): Promise<void> {
    const job: Job<JobData, OutputRecord> | undefined = await this.#queues.open(queue).getJob(jobId)
    if (job !== undefined) await this.#queues.callbacks.post(queue, job)
  }
}
