import type { CallError, JobState, JobSummary } from '@toolyard/contract'
import { cancelled } from './cancellation.ts'
import type { Redis } from './connection.ts'
import type { IndexedJob } from './job-index.ts'
import type { JobQueues } from './job-queues.ts'
import { jobKey } from './names.ts'
import { decodeFailure } from './settlement.ts'
import { whileAvailable } from './unavailable.ts'

/** The fields of a job's record that a summary is made of; none of them is large. */
const fields = ['timestamp', 'processedOn', 'finishedOn', 'ats', 'failedReason', 'cancelled'] as const

interface Record {
  timestamp: number
  processedOn: number | undefined
  finishedOn: number | undefined
  runs: number
  failure: CallError | undefined
  /** Taken from its workers, and not settled yet. */
  isCancelled: boolean
}

/**
 * Reads what a list shows of jobs, in their order; those that are gone are left out.
 *
 * @throws RedisUnavailableError
 */
export async function summarize (parts: { redis: Redis, queues: JobQueues }, jobs: readonly IndexedJob[]): Promise<JobSummary[]> {
  if (jobs.length === 0) return []
  const records = await readRecords(parts.redis, jobs)
  const summaries = await Promise.all(jobs.map(async (job, index) => {
    const record = records[index]
    return record === undefined ? undefined : summary(job, record, await stateOf(parts.queues, job, record))
  }))
  return summaries.filter(job => job !== undefined)
}

/** A job's time in milliseconds, as ISO 8601 in UTC. */
export function isoTime (ms: number): string {
  return new Date(ms).toISOString()
}

async function readRecords (redis: Redis, jobs: readonly IndexedJob[]): Promise<Array<Record | undefined>> {
  const pipeline = redis.pipeline()
  for (const { queue, id } of jobs) {
    pipeline.hmget(jobKey(queue, id), ...fields)
    pipeline.hexists(jobKey(queue, id), 'returnvalue')
  }
  const replies = await whileAvailable(pipeline.exec()) ?? []
  return jobs.map((_job, index) => decode(replies[2 * index]?.[1] as Array<string | null> | undefined, replies[2 * index + 1]?.[1] === 1))
}

function decode (values: Array<string | null> | undefined, hasOutput: boolean): Record | undefined {
  const [timestamp = null, processedOn = null, finishedOn = null, runs = null, failedReason = null, mark = null] = values ?? []
  if (timestamp === null) return undefined
  return {
    timestamp: Number(timestamp),
    processedOn: processedOn === null ? undefined : Number(processedOn),
    finishedOn: finishedOn === null ? undefined : Number(finishedOn),
    runs: Number(runs ?? 0),
    // An earlier run that failed leaves its reason behind.
    failure: finishedOn === null || hasOutput || failedReason === null ? undefined : decodeFailure(failedReason),
    isCancelled: finishedOn === null && mark !== null
  }
}

async function stateOf (queues: JobQueues, { queue, id }: IndexedJob, record: Record): Promise<JobState> {
  if (record.isCancelled || record.failure?.code === cancelled.code) return 'cancelled'
  if (record.finishedOn !== undefined) return record.failure === undefined ? 'succeeded' : 'failed'
  if (record.processedOn === undefined) return 'queued'
  // It runs, or waits for its next run.
  return await whileAvailable(queues.open(queue).getJobState(id)) === 'active' ? 'running' : 'queued'
}

function summary (job: IndexedJob, record: Record, status: JobState): JobSummary {
  const updatedAt = isoTime(record.finishedOn ?? record.processedOn ?? record.timestamp)
  const error = record.isCancelled ? cancelled : record.failure
  return {
    id: job.id,
    type: job.type,
    tool: job.tool,
    queue: job.queue,
    status,
    priority: job.priority,
    timeout_sec: job.timeoutSec,
    attempts: record.runs,
    max_attempts: job.maxAttempts,
    callback_url: null,
    tags: job.tags,
    error: error === undefined ? null : { ...error, at: updatedAt },
    created_at: isoTime(record.timestamp),
    updated_at: updatedAt
  }
}
