import type { JobData, JobState, JobView, OutputRecord, Progress, Settlement } from '@toolyard/contract'
import { storedJson } from '@toolyard/contract/terms'
import type { Job } from 'bullmq'
import { cancelled } from '../record/cancellation.ts'
import type { Redis } from '../redis/connection.ts'
import { publicPriority } from '../queues/fair-order.ts'
import type { JobQueues } from '../queues/job-queues.ts'
import { beganField, isoTime, timesOf } from '../record/job-times.ts'
import { jobKey, placeOfKey, rerunsField } from '../redis/names.ts'
import type { OutputStore } from '../record/output-store.ts'
import type { QueueDirectory } from '../queues/queue-directory.ts'
import { readProgress } from '../record/log/job-progress.ts'
import { decodeFailure, decodeSettlement, runsOf, sandboxOfFailure, settlementFields } from '../record/settlement.ts'
import { whileAvailable } from '../redis/unavailable.ts'
import { idOf } from '../record/job-id.ts'
import { readSteps, type FoundSteps } from './job-steps.ts'
import type { JobScope } from '../record/job-scope.ts'
import type { OwnOptions } from '../record/new-job.ts'
import { fromRedis } from '../redis/from-redis.ts'

/** A job as it was read. */
export interface ReadJob {
  view: Omit<JobView, 'result'>
  /** The JSON of its output, which may be large: the value isn't needed here. */
  resultJson: string
}

/** The JSON of a job as the API shows it, in one line. */
export function jobJson ({ view, resultJson }: ReadJob): string {
  return `${JSON.stringify(view).slice(0, -1)},"result":${resultJson}}`
}

const states: Record<string, JobState> = { active: 'running', completed: 'succeeded', failed: 'failed' }

/** What a `JobReader` reads with. */
export interface JobReaderParts {
  redis: Redis
  directory: QueueDirectory
  queues: JobQueues
  outputs: OutputStore
}

/** Reads jobs by their id. */
export class JobReader {
  readonly #parts: JobReaderParts

  constructor (parts: JobReaderParts) {
    this.#parts = parts
  }

  /**
   * @returns undefined when there is no such job in the scope.
   * @throws RedisUnavailableError
   */
  async find (jobId: string, scope: JobScope = {}): Promise<ReadJob | undefined> {
    const queue = await this.queueOf(jobId, scope)
    return queue === undefined ? undefined : await this.read(queue, jobId)
  }

  /**
   * Reads a job of a queue that is known.
   *
   * @returns undefined when there is no such job.
   * @throws RedisUnavailableError
   */
  async read (queue: string, jobId: string): Promise<ReadJob | undefined> {
    const opened = this.#parts.queues.open(queue)
    // The job last: one that ends in between is shown as running, never as ended without its outcome.
    const [state, [mark, seen, began, reruns], job] = await whileAvailable(Promise.all([
      opened.getJobState(jobId), this.#parts.redis.hmget(jobKey(queue, jobId), 'cancelled', 'seen', beganField, rerunsField), opened.getJob(jobId)
    ]))
    // What is written for a job that is gone leaves a record without the fields of one.
    return job === undefined || !Number.isFinite(job.timestamp)
      ? undefined
      : await this.#view(queue, fromRedis(job), {
        bullState: state,
        isMarked: mark !== null,
        hasSteps: seen !== null,
        began: began == null ? undefined : Number(began),
        isRerun: reruns != null
      })
  }

  /**
   * How a job of a queue that is known has ended.
   *
   * @returns undefined while it goes on; `missing` when there is no such job.
   * @throws RedisUnavailableError
   */
  async settlement (queue: string, jobId: string): Promise<Settlement | 'missing' | undefined> {
    const [timestamp, ...fields] = await whileAvailable(this.#parts.redis.hmget(jobKey(queue, jobId), 'timestamp', ...settlementFields))
    return timestamp === null ? 'missing' : decodeSettlement(fields)
  }

  /**
   * How far a job of a known queue is; undefined when its tool has reported nothing.
   *
   * @throws RedisUnavailableError
   */
  async progress (queue: string, jobId: string): Promise<Progress | undefined> {
    const json = await whileAvailable(this.#parts.redis.hget(jobKey(queue, jobId), 'progress'))
    return readProgress(json === null ? undefined : storedJson(json))
  }

  /**
   * The steps of a workflow of a queue that is known.
   *
   * @throws RedisUnavailableError
   */
  async steps (queue: string, jobId: string): Promise<FoundSteps> {
    return await readSteps(this.#parts.redis, queue, jobId)
  }

  /**
   * The queue that a job is in: an id doesn't tell, and asking all of them is one round trip.
   *
   * @param scope with the only session that the job may be of; undefined means any
   * @returns undefined when there is no such job in the scope.
   * @throws RedisUnavailableError
   */
  async queueOf (jobId: string, scope: SessionScope = {}): Promise<string | undefined> {
    const known = await this.#parts.directory.list()
    const queues = known.filter(queue => scope.queues?.includes(queue) ?? true)
    // Not a pipeline: on a connection that knows BullMQ's scripts, making one costs more than the commands.
    const found = await whileAvailable(Promise.all(queues.map(queue => this.#isThere(jobKey(queue, jobId), scope))))
    return queues.find((_queue, index) => found[index])
  }

  /** Asks the same of a job of another tenant and of none, so that its time reveals nothing. */
  async #isThere (key: string, { tenant, session }: SessionScope): Promise<boolean> {
    if (tenant === undefined && session === undefined) return await this.#parts.redis.exists(key) === 1
    const options = await this.#parts.redis.hget(key, 'opts')
    if (options === null) return false
    const own = storedJson<OwnOptions>(options)
    return (tenant === undefined || own.tenant === tenant) && (session === undefined || own.session === session)
  }

  async #view (queue: string, job: Job<JobData>, { bullState, isMarked, hasSteps, began, isRerun }: RecordState): Promise<ReadJob> {
    const id = idOf(job)
    const record = bullState === 'completed' ? fromRedis<OutputRecord>(job.returnvalue) : undefined
    const error = bullState === 'failed' ? decodeFailure(job.failedReason) : isMarked ? cancelled : undefined
    const updatedAt = isoTime(job.finishedOn ?? job.processedOn ?? job.timestamp)
    const { json, truncation } = record === undefined ? noResult : await this.#result(queue, id, record)
    const status = error?.code === cancelled.code ? 'cancelled' : states[bullState] ?? (hasSteps ? 'running' : 'queued')
    const runs = runsOf(job.attemptsStarted, job.failedReason)
    const { timestamp, processedOn, finishedOn, attemptsMade: endedRuns, opts: { delay: delayMs = 0 } } = job
    const times = timesOf({ timestamp, delayMs, processedOn, began, finishedOn, runs, endedRuns, isRerun }, status)
    const progress = readProgress(job.progress)
    const view = {
      id,
      type: job.name,
      tool: job.data.tool,
      queue,
      status,
      priority: publicPriority(job.priority),
      timeout_sec: job.data.timeoutSec,
      attempts: runs,
      max_attempts: job.opts.attempts ?? 1,
      callback_url: job.data.callbackUrl ?? null,
      tags: job.data.tags,
      ...(job.data.dependsOn === undefined ? {} : { depends_on: job.data.dependsOn.map(dependency => dependency.id) }),
      ...(job.parentKey === undefined ? {} : { parent_id: placeOfKey(job.parentKey).id }),
      key: job.data.keyName,
      ...(job.data.tenant === undefined ? {} : { tenant: job.data.tenant }),
      worker: times.started_at === null ? null : job.processedBy ?? null,
      ...(progress === undefined ? {} : { progress }),
      ...(job.data.session === undefined ? {} : { session: job.data.session }),
      ...(job.data.origin === undefined ? {} : { request: job.data.origin.request }),
      input: job.data.arguments,
      ...truncation,
      ...(record?.files === undefined ? {} : { files: record.files }),
      ...(record?.moreFiles === undefined ? {} : { more_files: record.moreFiles }),
      sandbox: (bullState === 'failed' ? sandboxOfFailure(job.failedReason) : record?.sandbox) ?? null,
      error: error === undefined ? null : { ...error, at: updatedAt },
      created_at: isoTime(job.timestamp),
      updated_at: updatedAt,
      ...times
    }
    return { view, resultJson: json }
  }

  async #result (queue: string, id: string, record: OutputRecord): Promise<Result> {
    const json = await this.#parts.outputs.readJson(queue, id, record)
    if (json === undefined) return { json: 'null', truncation: { result_truncated: { bytes: record.kind === 'stored' ? record.bytes : 0, stored_bytes: 0 } } }
    return record.cut === undefined
      ? { json, truncation: {} }
      : { json, truncation: { result_truncated: { bytes: record.cut.bytes, stored_bytes: record.cut.storedBytes } } }
  }
}

type SessionScope = JobScope & { session?: string | undefined }

/** What a job's BullMQ record says of its state. */
interface RecordState {
  bullState: string
  /** Taken from its workers by a cancel, and not settled yet. */
  isMarked: boolean
  /** It has made jobs and waits for them, or is about to go on: to the outside it runs. */
  hasSteps: boolean
  began: number | undefined
  isRerun: boolean
}

interface Result {
  json: string
  truncation: Pick<JobView, 'result_truncated'>
}

const noResult: Result = { json: 'null', truncation: {} }
