import { limits, type JobData } from '@toolyard/contract'
import { Queue } from 'bullmq'
import { v7 as uuidv7 } from 'uuid'
import type { Redis } from './connection.ts'
import { internalName, jobKey, keyPrefix } from './names.ts'
import type { QueueDirectory } from './queue-directory.ts'
import { retention } from './retention.ts'
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
}

/** A job id: a UUID whose order is the order of creation, never anything of the caller's (X3). */
export function newJobId (): string {
  return uuidv7()
}

/** Adds jobs to queues of any public name. */
export class JobQueues {
  readonly #redis: Redis
  readonly #directory: QueueDirectory
  readonly #queues = new Map<string, Queue>()

  constructor (redis: Redis, directory: QueueDirectory) {
    this.#redis = redis
    this.#directory = directory
  }

  /**
   * Adds jobs in one round trip.
   *
   * @returns the error of each job that Redis refused (it is full, say), by job id; the others are added.
   * @throws QueueLimitError for a queue too many; RedisUnavailableError, after which jobs may or may not exist.
   */
  async add (queue: string, jobs: readonly NewJob[]): Promise<ReadonlyMap<string, Error>> {
    if (this.#redis.status !== 'ready') throw new RedisUnavailableError()
    await this.#directory.register(queue)
    try {
      await whileAvailable(this.open(queue).addBulk(jobs.map(toBulkJob)))
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
}

function toBulkJob (job: NewJob): { name: string, data: JobData, opts: object } {
  return {
    name: job.type,
    data: job.data,
    opts: {
      jobId: job.id,
      // BullMQ serves low numbers first, and jobs without a priority before all others (X4).
      priority: limits.priority.max + 1 - (job.priority ?? limits.priority.default),
      attempts: 1,
      removeOnComplete: retention.jobs,
      removeOnFail: retention.jobs,
      stackTraceLimit: 0
    }
  }
}
