import type { CallError, JobState, JobSummary, Progress } from '@toolyard/contract'
import { around, writeJson, WrittenJson } from '@toolyard/contract/terms'
import { cancelled } from '../record/cancellation.ts'
import { type Redis, jobKey, placeOfKey, rerunsField, pipelined, whileAvailable, fromRedis } from '@toolyard/store'
import type { IndexedJob } from '../record/job-index.ts'
import type { JobQueues } from '../queues/job-queues.ts'
import { readProgress } from '../record/log/job-progress.ts'
import { mapInTurns } from '@toolyard/runtime'
import { approvalField, decodeApproval, isHeld } from '../record/approval.ts'
import { askedField, decodeAsked, timesAsked } from '../record/question.ts'
import { beganField, delayOf, isoTime, timesOf, type JobCourse } from '../record/job-times.ts'
import { decodeFailure, isFailedUnrun, runsOf } from '../record/settlement.ts'

/** The fields of a job's record that a summary is made of; none of them is large but the reason, with the details of a failure. */
export const recordFields = [
  'timestamp', 'processedOn', 'finishedOn', 'ats', 'failedReason', 'cancelled', 'seen', 'parentKey', beganField, rerunsField, 'pb', 'opts', 'atm',
  'progress', 'delay', approvalField, askedField
] as const

interface Record extends JobCourse {
  failure: CallError | undefined
  /** Nobody has approved it yet. */
  isHeld: boolean
  /** Its tool has asked something that nobody has answered. */
  isAsking: boolean
  /** Taken from its workers, and not settled yet. */
  isCancelled: boolean
  /** It has made jobs and waits for them. */
  hasSteps: boolean
  parentId: string | undefined
  /** Who ran it last; undefined for a worker of an older release, and where the job was taken last only to be failed. */
  worker: string | undefined
  progress: Progress | undefined
  /** When a job that has not run yet is due, in milliseconds since 1970; undefined for one that waits for no time. */
  dueAt: number | undefined
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

/** The same for one job whose `recordFields` were read; undefined when it is gone. */
export async function summaryOf (
  queues: JobQueues, job: IndexedJob, values: ReadonlyArray<string | null>, hasOutput: boolean
): Promise<JobSummary | undefined> {
  const record = decode(values, hasOutput)
  return record === undefined ? undefined : summary(job, record, await stateOf(queues, job, record))
}

async function readRecords (redis: Redis, jobs: readonly IndexedJob[]): Promise<Array<Record | undefined>> {
  const replies = await pipelined(redis, jobs, job => job.queue, (pipeline, { queue, id }) => {
    pipeline.hmget(jobKey(queue, id), ...recordFields)
    pipeline.hexists(jobKey(queue, id), 'returnvalue')
  })
  return await mapInTurns(replies, reply => {
    if (reply instanceof Error) throw reply
    const [values, hasOutput] = fromRedis<[Array<string | null>, number]>(reply)
    return decode(values, hasOutput === 1)
  })
}

function decode (values: ReadonlyArray<string | null>, hasOutput: boolean): Record | undefined {
  const [
    timestamp = null, processedOn = null, finishedOn = null, runs = null, failedReason = null, mark = null, seen = null, parentKey = null,
    began = null, reruns = null, worker = null, options = null, ended = null, progress = null, delay = null, approval = null, asked = null
  ] = values
  if (timestamp === null) return undefined
  const { approvedAt } = decodeApproval(approval) ?? {}
  const isWaiting = isHeld(options, approval)
  const question = decodeAsked(asked)
  return {
    timestamp: Number(timestamp),
    delayMs: approvedAt === undefined ? delayOf(options) : approvedAt - Number(timestamp),
    isHeld: isWaiting,
    isAsking: question?.state === 'asked',
    processedOn: numberOf(processedOn),
    began: numberOf(began),
    finishedOn: numberOf(finishedOn),
    isRerun: reruns !== null,
    endedRuns: Number(ended ?? 0),
    runs: runsOf(Number(runs ?? 0), failedReason) + timesAsked(question),
    // An earlier run that failed leaves its reason behind.
    failure: finishedOn === null || hasOutput || failedReason === null ? undefined : passedOn(decodeFailure(failedReason)),
    isCancelled: finishedOn === null && mark !== null,
    hasSteps: seen !== null,
    parentId: parentKey === null ? undefined : placeOfKey(parentKey).id,
    worker: isFailedUnrun(failedReason) ? undefined : worker ?? undefined,
    progress: progress === null ? undefined : readProgress(JSON.parse(progress)),
    dueAt: processedOn === null && !isWaiting && Number(delay) > 0 ? Number(timestamp) + Number(delay) : undefined
  }
}

/** The details of 200 failures may take up hundreds of megabytes as values, and nobody here looks into them. */
function passedOn ({ details, ...error }: CallError): CallError {
  return details === undefined ? error : around({ ...error, details: new WrittenJson(writeJson(details)) })
}

function numberOf (text: string | null): number | undefined {
  return text === null ? undefined : Number(text)
}

const goingOn: ReadonlySet<string> = new Set(['active', 'completed', 'failed'])

async function stateOf (queues: JobQueues, { queue, id }: IndexedJob, record: Record): Promise<JobState> {
  if (record.isCancelled || record.failure?.code === cancelled.code) return 'cancelled'
  if (record.finishedOn !== undefined) return record.failure === undefined ? 'succeeded' : 'failed'
  if (record.isHeld) return 'held'
  if (record.isAsking) return 'input_required'
  if (record.hasSteps) return 'running'
  if (record.processedOn === undefined) return 'queued'
  // It runs, or waits for its next run. One that has ended since its record was read is shown as it was then.
  return goingOn.has(await whileAvailable(queues.open(queue).getJobState(id))) ? 'running' : 'queued'
}

function summary (job: IndexedJob, record: Record, status: JobState): JobSummary {
  const updatedAt = isoTime(record.finishedOn ?? record.processedOn ?? record.timestamp)
  const error = record.isCancelled ? cancelled : record.failure
  const times = timesOf(record, status)
  return around({
    id: job.id,
    type: job.type,
    tool: job.tool,
    queue: job.queue,
    status,
    priority: job.priority,
    timeout_sec: job.timeoutSec,
    attempts: record.runs,
    max_attempts: job.maxAttempts,
    callback_url: job.callbackUrl ?? null,
    tags: job.tags,
    ...(record.parentId === undefined ? {} : { parent_id: record.parentId }),
    key: job.keyName ?? null,
    ...(job.tenant === undefined ? {} : { tenant: job.tenant }),
    worker: times.started_at === null ? null : record.worker ?? null,
    ...(record.progress === undefined ? {} : { progress: record.progress }),
    error: error === undefined ? null : around({ ...error, at: updatedAt }),
    created_at: isoTime(record.timestamp),
    ...(record.dueAt === undefined || status !== 'queued' ? {} : { due_at: isoTime(record.dueAt) }),
    updated_at: updatedAt,
    ...times
  })
}
