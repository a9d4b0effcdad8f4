import { limits, type JobData, type JobState, type JobView, type OutputRecord } from '@toolyard/contract'
import type { Job } from 'bullmq'
import type { Redis } from './connection.ts'
import type { JobQueues } from './job-queues.ts'
import { jobKey } from './names.ts'
import type { OutputStore } from './output-store.ts'
import type { QueueDirectory } from './queue-directory.ts'
import { decodeFailure } from './settlement.ts'
import { whileAvailable } from './unavailable.ts'

const states: Record<string, JobState> = { active: 'running', completed: 'succeeded', failed: 'failed' }

/** What a `JobReader` reads with. */
export interface JobReaderParts {
  redis: Redis
  directory: QueueDirectory
  queues: JobQueues
  outputs: OutputStore
}

/** Reads jobs back by their id alone. */
export class JobReader {
  readonly #parts: JobReaderParts

  constructor (parts: JobReaderParts) {
    this.#parts = parts
  }

  /**
   * @param allowedQueues the only queues to look in; undefined means all.
   * @returns undefined when there is no such job there.
   * @throws RedisUnavailableError
   */
  async find (jobId: string, allowedQueues?: readonly string[]): Promise<JobView | undefined> {
    const queue = await this.#queueOf(jobId, allowedQueues)
    if (queue === undefined) return undefined
    const opened = this.#parts.queues.open(queue)
    const [job, state] = await whileAvailable(Promise.all([opened.getJob(jobId), opened.getJobState(jobId)]))
    return job === undefined ? undefined : await this.#view(queue, jobId, job as Job<JobData>, state)
  }

  /** An id doesn't tell its queue; asking all of them is one round trip. */
  async #queueOf (jobId: string, allowedQueues: readonly string[] | undefined): Promise<string | undefined> {
    const known = await this.#parts.directory.list()
    const queues = known.filter(queue => allowedQueues?.includes(queue) ?? true)
    const pipeline = this.#parts.redis.pipeline()
    for (const queue of queues) pipeline.exists(jobKey(queue, jobId))
    const replies = await whileAvailable(pipeline.exec())
    return queues.find((_queue, index) => replies?.[index]?.[1] === 1)
  }

  async #view (queue: string, id: string, job: Job<JobData>, bullState: string): Promise<JobView> {
    const succeeded = bullState === 'completed'
    const record = succeeded ? job.returnvalue as OutputRecord : undefined
    const error = bullState === 'failed' ? decodeFailure(job.failedReason) : undefined
    const updatedAt = isoTime(job.finishedOn ?? job.processedOn ?? job.timestamp)
    return {
      id,
      type: job.name,
      tool: job.data.tool,
      queue,
      status: error?.code === 'JOB_CANCELLED' ? 'cancelled' : states[bullState] ?? 'queued',
      priority: limits.priority.max + 1 - job.priority,
      timeout_sec: job.data.timeoutSec,
      attempts: Math.max(job.attemptsMade, job.attemptsStarted),
      max_attempts: job.opts.attempts ?? 1,
      callback_url: null,
      tags: ['agent-tool'],
      input: job.data.arguments,
      ...(record === undefined ? { result: null } : await this.#result(queue, id, record)),
      error: error === undefined ? null : { ...error, at: updatedAt },
      created_at: isoTime(job.timestamp),
      updated_at: updatedAt
    }
  }

  async #result (queue: string, id: string, record: OutputRecord): Promise<ResultFields> {
    const result = await this.#parts.outputs.read(queue, id, record)
    if (result === undefined) return { result: null, result_truncated: { bytes: record.kind === 'stored' ? record.bytes : 0, stored_bytes: 0 } }
    return record.cut === undefined ? { result } : { result, result_truncated: { bytes: record.cut.bytes, stored_bytes: record.cut.storedBytes } }
  }
}

type ResultFields = Pick<JobView, 'result' | 'result_truncated'>

function isoTime (ms: number): string {
  return new Date(ms).toISOString()
}
