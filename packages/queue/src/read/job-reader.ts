import type { JobData, JobSummary, JobView, OutputRecord, Progress, Settlement } from '@toolyard/contract'
import { around, writeJson } from '@toolyard/contract/terms'
import { type Redis, jobKey, mayBeThereSoon, RedisUnavailableError, whileAvailable, type JobScope } from '@toolyard/store'
import { publicPriority } from '../queues/fair-order.ts'
import type { JobQueues } from '../queues/job-queues.ts'
import { approvalField, approvalView, decodeApproval, firstApproval, isHeld } from '../record/approval.ts'
import { decodeData, shownArguments } from '../record/job-arguments.ts'
import type { OutputStore } from './output-store.ts'
import type { QueueDirectory } from '../queues/queue-directory.ts'
import { askedField, decodeAsked, decodeQuestion, questionField, questionView, readQuestions } from '../record/question.ts'
import { readProgress } from '../record/log/job-progress.ts'
import { decodeOutput, decodeSettlement, sandboxOfFailure, settlementFields } from '../record/settlement.ts'
import { recordFields, summaryOf } from './job-summary.ts'
import { readSteps, type FoundSteps } from './job-steps.ts'
import { readOptions } from '../record/new-job.ts'
import { readRecord, readStage, type JobStage } from './job-record.ts'
import { listHeld, type HeldCall, type ListedCall } from './held-calls.ts'

export interface ReadJob {
  view: Omit<JobView, 'result'>
  /** The JSON of its output in pieces, as it may be large: the value isn't needed here. */
  result: readonly Buffer[]
}

export function jobJson ({ view, result }: ReadJob): Buffer[] {
  return [Buffer.from(`${writeJson(view).slice(0, -1)},"result":`), ...result, Buffer.from('}')]
}

interface JobReaderParts {
  redis: Redis
  directory: QueueDirectory
  queues: JobQueues
  outputs: OutputStore
}

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
    return (await this.#read(queue, jobId))?.job
  }

  async #read (queue: string, jobId: string): Promise<{ job: ReadJob, data: JobData } | undefined> {
    const { redis, queues, outputs: { reads } } = this.#parts
    const record = await readRecord({ redis, reads }, queue, jobId)
    const [type = null, text = null, priority, returnValue = null, question = null, ...values] = record
    // A write for a job that is gone leaves a record without the fields of one.
    if (type === null || text === null) return undefined
    const data = decodeData(text)
    const { tool, tags, timeoutSec, callbackUrl, tenant, keyName, dependsOn, session, origin, hold, conversation } = data
    const { attempts: maxAttempts = 1 } = readOptions(values[recordFields.indexOf('opts')])
    const job = {
      id: jobId, queue, type, tool, tags, priority: publicPriority(Number(priority)), timeoutSec, maxAttempts, callbackUrl, tenant, keyName
    }
    const summary = await summaryOf(queues, job, values, returnValue !== null)
    if (summary === undefined) return undefined
    const output = summary.status === 'succeeded' && returnValue !== null ? decodeOutput(returnValue) : undefined
    const { json, truncation } = output === undefined ? noResult : await this.#result(queue, jobId, output)
    const failure = summary.finished_at === null ? '' : values[recordFields.indexOf('failedReason')] ?? ''
    const asked = decodeAsked(values[recordFields.indexOf(askedField)])
    const decided = decodeApproval(values[recordFields.indexOf(approvalField)])
    const view = {
      ...summary,
      ...(dependsOn === undefined ? {} : { depends_on: dependsOn.map(dependency => dependency.id) }),
      ...(hold === undefined ? {} : { approval: approvalView(hold, decided ?? firstApproval(hold, Number(values[0]))) }),
      ...(asked === undefined || question === null || summary.status !== 'input_required' ? {} : { question: questionView(readQuestions(question), asked) }),
      ...(conversation === undefined ? {} : { conversation }),
      ...(session === undefined ? {} : { session }),
      ...(origin === undefined ? {} : { request: origin.request }),
      input: shownArguments(data),
      ...truncation,
      ...(output?.files === undefined ? {} : { files: output.files }),
      ...(output?.moreFiles === undefined ? {} : { more_files: output.moreFiles }),
      sandbox: (output === undefined ? sandboxOfFailure(failure) : output.sandbox) ?? null
    }
    return { job: { view: around(view), result: json }, data }
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
   * The same; of a job that waits for an answer, what it asks, as a failure.
   *
   * @throws RedisUnavailableError
   */
  async settlementOrQuestion (queue: string, jobId: string): Promise<Settlement | 'missing' | undefined> {
    const settlement = await this.settlement(queue, jobId)
    if (settlement !== undefined) return settlement
    const [asked, question] = await whileAvailable(this.#parts.redis.hmget(jobKey(queue, jobId), askedField, questionField))
    return decodeQuestion(asked, question)
  }

  /**
   * A job that needed an approval; undefined when there is no such job, or it needed none.
   *
   * @throws RedisUnavailableError
   */
  async held (queue: string, id: string): Promise<HeldCall | undefined> {
    const found = await this.#read(queue, id)
    if (found === undefined) return undefined
    const { job: { view }, data: { hold, version, tool, keyName, tenant, session, conversation, callbackUrl } } = found
    if (hold === undefined || view.approval === undefined) return undefined
    const record = decodeApproval(await whileAvailable(this.#parts.redis.hget(jobKey(queue, id), approvalField)))
    return {
      queue,
      id,
      type: view.type,
      tool,
      version,
      keyName,
      tenant,
      session,
      conversation,
      callbackUrl,
      hold,
      parentId: view.parent_id,
      arguments: view.input,
      approval: record === undefined ? view.approval : approvalView(hold, record),
      program: record?.program === undefined ? hold.parts.program : record.program,
      submittedAt: view.created_at,
      status: view.status
    }
  }

  /** What a list shows of held calls. @throws RedisUnavailableError */
  async listHeld (jobs: readonly JobSummary[]): Promise<ListedCall[]> {
    return await listHeld(this.#parts.redis, jobs)
  }

  /** How far a job of a queue that is known is, for any number who wait for it. @throws RedisUnavailableError */
  async stage (queue: string, jobId: string): Promise<JobStage> {
    return await readStage(this.#parts.redis, queue, jobId)
  }

  /**
   * Whether a job of a queue that is known waits for an approval.
   *
   * @throws RedisUnavailableError
   */
  async isHeld (queue: string, jobId: string): Promise<boolean> {
    const [options, finishedOn, approval] = await whileAvailable(this.#parts.redis.hmget(jobKey(queue, jobId), 'opts', 'finishedOn', approvalField))
    return isHeld(options, approval) && finishedOn === null
  }

  /**
   * How far a job of a known queue is; undefined when its tool has reported nothing.
   *
   * @throws RedisUnavailableError
   */
  async progress (queue: string, jobId: string): Promise<Progress | undefined> {
    const json = await whileAvailable(this.#parts.redis.hget(jobKey(queue, jobId), 'progress'))
    return readProgress(json === null ? undefined : JSON.parse(json))
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
   * The queue that a job is in. A job of another tenant is asked for as one that isn't there, so that the time reveals nothing.
   *
   * @param scope with the only session that the job may be of; undefined means any
   * @returns undefined when there is no such job in the scope.
   * @throws RedisUnavailableError, also where there is none just after a failover: one look proves nothing then
   */
  async queueOf (jobId: string, scope: SessionScope = {}): Promise<string | undefined> {
    const { directory } = this.#parts
    const { tenant, session } = scope
    const known = await directory.list()
    const queue = await directory.find(jobId, known.filter(queue => scope.queues?.includes(queue) ?? true), options => {
      const own = readOptions(options)
      return (tenant === undefined || own.tenant === tenant) && (session === undefined || own.session === session)
    })
    if (queue === undefined && mayBeThereSoon(this.#parts.redis)) {
      throw new RedisUnavailableError(new Error('it was lost just now, and may not have all jobs yet'))
    }
    return queue
  }

  async #result (queue: string, id: string, record: OutputRecord): Promise<Result> {
    const json = await this.#parts.outputs.readPieces(queue, id, record)
    if (json === undefined) return { json: noResult.json, truncation: { result_truncated: { bytes: record.kind === 'stored' ? record.bytes : 0, stored_bytes: 0 } } }
    return record.cut === undefined
      ? { json, truncation: {} }
      : { json, truncation: { result_truncated: { bytes: record.cut.bytes, stored_bytes: record.cut.storedBytes } } }
  }
}

type SessionScope = JobScope & { session?: string | undefined }

interface Result {
  json: readonly Buffer[]
  truncation: Pick<JobView, 'result_truncated'>
}

const noResult: Result = { json: [Buffer.from('null')], truncation: {} }
