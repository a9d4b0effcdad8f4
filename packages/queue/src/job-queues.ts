import { limits, type JobData } from '@toolyard/contract'
import { Queue, type BulkJobOptions } from 'bullmq'
import { v7 as uuidv7 } from 'uuid'
import type { Redis } from './connection.ts'
import { JobIndex } from './job-index.ts'
import { internalName, jobKey, keyPrefix } from './names.ts'
import type { QueueDirectory } from './queue-directory.ts'
import { keepJobs, type Retention } from './retention.ts'
import { registerSerial } from './serial-gate.ts'
import { RedisUnavailableError, whileAvailable } from './unavailable.ts'

/** A job to add. */
export interface NewJob {
  /** From `newJobId`. */
  id: string
  /** The job type, such as `data.file_read`. */
  type: string
  data: JobData
  /** 0..10, higher first; 5 when absent (RC22). */
  priority?: number
  /** How often the job may run before a failure that may pass is its end; 1 when absent (X26). */
  maxAttempts?: number
  /** Milliseconds until the job is due; 0 when absent. */
  delayMs?: number
}

/** Before the second run a job waits 0.5 to 1 s, before each further one twice as long. */
const backoff = { type: 'exponential', delay: 1_000, jitter: 0.5 } as const

/** A job id: a UUID whose order is the order of creation, never anything of the caller's (X3). */
export function newJobId (): string {
  return uuidv7()
}

/** Adds jobs to queues of any public name. */
export class JobQueues {
  readonly #redis: Redis
  readonly #directory: QueueDirectory
  readonly #retention: Retention
  readonly #index: JobIndex
  readonly #queues = new Map<string, Queue>()

  constructor (redis: Redis, directory: QueueDirectory, retention: Retention) {
    this.#redis = redis
    this.#directory = directory
    this.#retention = retention
    this.#index = new JobIndex(redis)
  }

  /** The jobs in the order of their creation. */
  get index (): JobIndex {
    return this.#index
  }

  /**
   * Adds jobs in one round trip. A job whose id exists is left as it is.
   *
   * @returns the error of each job that Redis refused (it is full, say), by job id; the others are added.
   * @throws QueueLimitError for a queue too many; RedisUnavailableError, after which jobs may or may not exist.
   */
  async add (queue: string, jobs: readonly NewJob[]): Promise<ReadonlyMap<string, Error>> {
    if (this.#redis.status !== 'ready') throw new RedisUnavailableError()
    await this.#directory.register(queue)
    const complete = jobs.map(job => ({ priority: limits.priority.default, maxAttempts: limits.attempts.default, delayMs: 0, ...job }))
    // Sent together. A job that isn't in the index is run, but not listed: its entry goes first, and may fail alone.
    void this.#index.add(queue, complete).catch(() => {})
    for (const { id, data } of complete) {
      if (data.serial === true) void registerSerial(this.#redis, { tool: data.tool, queue, id }).catch(() => {})
    }
    try {
      await whileAvailable(this.open(queue).addBulk(complete.map(job => this.#bulkJob(job))))
      return new Map()
    } catch (error) {
      if (error instanceof RedisUnavailableError) throw error
      return await this.#refused(queue, jobs, error as Error)
    }
  }

  /** BullMQ's queue, opened on first use; all share one connection. */
  open (queue: string): Queue {
    let opened = this.#queues.get(queue)
    if (opened === undefined) {
      opened = new Queue(internalName(queue), {
        connection: this.#redis, prefix: keyPrefix, skipVersionCheck: true, streams: { events: { maxLen: 1_000 } }
      })
      // The connection reports its own errors.
      opened.on('error', () => {})
      this.#queues.set(queue, opened)
    }
    return opened
  }

  async close (): Promise<void> {
    await Promise.all([...this.#queues.values()].map(queue => queue.close()))
  }

  /** BullMQ tells the first error only; which jobs exist all the same is asked of Redis. */
  async #refused (queue: string, jobs: readonly NewJob[], error: Error): Promise<Map<string, Error>> {
    const found = await whileAvailable(Promise.all(jobs.map(job => this.#redis.exists(jobKey(queue, job.id)))))
    return new Map(jobs.filter((_job, index) => found[index] === 0).map(job => [job.id, error]))
  }

  #bulkJob ({ id, type, data, priority, maxAttempts, delayMs }: Required<NewJob>): { name: string, data: JobData, opts: BulkJobOptions } {
    return {
      name: type,
      data,
      opts: {
        jobId: id,
        // BullMQ serves low numbers first, and jobs without a priority before all others (X4).
        priority: limits.priority.max + 1 - priority,
        attempts: maxAttempts,
        backoff,
        delay: delayMs,
        removeOnComplete: keepJobs(this.#retention),
        removeOnFail: keepJobs(this.#retention),
        stackTraceLimit: 0
      }
    }
  }
}
