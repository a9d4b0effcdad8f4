import { approvedCallsKey, jobKey, whileAvailable, type JobScope, type Redis, type Replicas } from '@toolyard/store'
import type { JobQueues } from '../queues/job-queues.ts'
import { enterEvents } from '../queues/callback-outbox.ts'
import { noteAnswer, noteRefusal, type AnswerResult, type AskingJob, type GivenAnswer } from '../queues/asked-jobs.ts'
import { decide, type Decision, type DecisionResult, type HeldJob } from '../queues/held-jobs.ts'
import { approvalDenied, approvalField, decodeApproval, type ApprovalRecord, type DecidingKey } from '../record/approval.ts'
import { promote } from '../queues/release.ts'
import type { JobReader } from '../read/job-reader.ts'
import type { JobCanceller } from './job-canceller.ts'

interface ApprovalsParts {
  redis: Redis
  queues: JobQueues
  jobs: JobReader
  canceller: JobCanceller
  /** Those that must know of a decision before anybody is told. */
  replicas?: Replicas
}

type DecidedJob = HeldJob & { tool: string, keyName: string, callbackUrl: string | undefined }

/** Decides about held jobs, and answers what tools ask. All methods throw RedisUnavailableError. */
export class Approvals {
  readonly #parts: ApprovalsParts

  constructor (parts: ApprovalsParts) {
    this.#parts = parts
  }

  /**
   * Notes a decision, once, and lets the job go on, or ends it; should this process die in between, a worker does what is left.
   *
   * @param countsStill whether what a key has decided counts: it is good, and may decide, still
   */
  async decide (
    job: DecidedJob, decision: Decision, countsStill: (key: DecidingKey) => Promise<boolean>
  ): Promise<{ result: DecisionResult, record: ApprovalRecord | undefined }> {
    const { redis, replicas, queues, canceller } = this.#parts
    const earlier = decodeApproval(await whileAvailable(redis.hget(jobKey(job.queue, job.id), approvalField)))
    const revoked: DecidingKey[] = []
    for (const key of earlier?.decisions ?? []) if (!await countsStill(key)) revoked.push(key)
    const { state, digest } = earlier ?? { state: 'held', digest: job.hold.digest }
    // Words that change nothing are told to nobody, however many there are.
    const mayCount = state === 'held' && digest === decision.digest
    if (mayCount) await enterEvents(redis, 'approval.decided', [job])
    const decided = await decide({ redis, replicas }, job, decision, revoked)
    // It was held again meanwhile.
    if (!mayCount && counting.has(decided.result)) await enterEvents(redis, 'approval.decided', [job])
    // Also where this was said before: who said it may have died before the job went on.
    if (decided.record?.state === 'denied') await canceller.deny(job.queue, job.id, approvalDenied(decided.record))
    if (decided.record?.state === 'approved') {
      if ((job.hold.delayMs ?? 0) === 0) await whileAvailable(promote(queues, job))
      await whileAvailable(redis.hset(approvedCallsKey, fieldOf(job), `${job.id} ${job.queue}`))
    }
    return decided
  }

  /**
   * Notes the answer to what the tool of a job asks, once, and lets the job go on; should this process die in between, it becomes
   * due by itself.
   *
   * @param answer see `noteAnswer`
   */
  async answer (job: AskingJob, answer: GivenAnswer): Promise<AnswerResult> {
    const result = await noteAnswer(this.#parts, job, answer)
    if (result === 'taken' || result === 'done') await whileAvailable(promote(this.#parts.queues, job))
    return result
  }

  /** Notes that an answer to a question didn't fit; the job waits on. */
  async refuse (job: AskingJob, number: number, reason: string): Promise<void> {
    await noteRefusal(this.#parts.redis, job, number, reason)
  }

  /**
   * The call of a tool that was approved last, of the same tenant, while its job is kept; not the call itself, nor one of a queue
   * that whoever asks may not see.
   */
  async previous ({ tool, tenant, id: own }: Pick<DecidedJob, 'tool' | 'tenant' | 'id'>, { queues }: JobScope): Promise<{ job_id: string, arguments: unknown } | undefined> {
    const [id = '', queue = ''] = (await whileAvailable(this.#parts.redis.hget(approvedCallsKey, fieldOf({ tool, tenant }))))?.split(' ') ?? []
    const isSeen = id !== '' && id !== own && (queues?.includes(queue) ?? true)
    const call = !isSeen ? undefined : await this.#parts.jobs.held(queue, id)
    return call === undefined ? undefined : { job_id: id, arguments: call.arguments }
  }
}

const counting: ReadonlySet<DecisionResult> = new Set(['approved', 'denied', 'held'])

function fieldOf ({ tool, tenant = '' }: { tool: string, tenant: string | undefined }): string {
  return `${tenant} ${tool}`
}
