import type { CallError, JobData } from '@toolyard/contract'
import type { Job } from 'bullmq'
import { idOf, jobKey, type Redis } from '@toolyard/store'
import { enterEvents } from '../queues/callback-outbox.ts'
import { admitHeld, holdAgain, type HeldJob } from '../queues/held-jobs.ts'
import type { WaitRecord } from '../queues/release.ts'
import { approvalDenied, approvalExpired, approvalField, decodeApproval } from '../record/approval.ts'
import { entriesOf } from './question-gate.ts'

/** Whether a job that needs an approval may run: it may, ends, is parked for so many milliseconds, or is another worker's by now. */
export type HoldPass = { kind: 'runs', digest: string } | { kind: 'ends', error: CallError } | { kind: 'parks', ms: number } | { kind: 'lost' }

export class HoldGate {
  readonly record: WaitRecord = { field: approvalField, state: 'held', ends: 'expiresAt' }
  readonly #redis: Redis
  readonly #queue: string

  constructor (redis: Redis, queue: string) {
    this.#redis = redis
    this.#queue = queue
  }

  /** To be asked before anything of a job runs that this worker has taken; undefined for one that needs no approval. */
  async enter (job: Job<JobData>, token: string): Promise<HoldPass | undefined> {
    const held = this.#heldOf(job)
    if (held === undefined) return undefined
    const admitted = await admitHeld(this.#redis, held, { token, entries: entriesOf(job) })
    if (admitted === undefined) return { kind: 'lost' }
    const { state, leftMs, digest } = admitted
    if (state === 'approved') return { kind: 'runs', digest }
    if (state === 'held') {
      // An operator may have run it again. It is told of once for each time that it is held.
      await this.#enter(job)
      return { kind: 'parks', ms: leftMs }
    }
    return { kind: 'ends', error: state === 'expired' ? approvalExpired : await this.#denial(idOf(job)) }
  }

  /**
   * What would run isn't what was approved. Answers for how many milliseconds the job is parked; undefined for one that is another
   * worker's by now.
   */
  async holdAgain (job: Job<JobData>, token: string, changed: { digest: string, changed: string }): Promise<number | undefined> {
    const held = this.#heldOf(job)
    if (held === undefined) return 0
    await this.#enter(job)
    return await holdAgain(this.#redis, held, changed, { token, entries: entriesOf(job) })
  }

  async #enter (job: Job<JobData>): Promise<void> {
    await enterEvents(this.#redis, 'approval.requested', [{ queue: this.#queue, id: idOf(job), callbackUrl: job.data.callbackUrl }])
  }

  async #denial (id: string): Promise<CallError> {
    const record = decodeApproval(await this.#redis.hget(jobKey(this.#queue, id), approvalField))
    return approvalDenied(record?.decisions?.findLast(({ decision }) => decision === 'deny')?.reason)
  }

  #heldOf (job: Job<JobData>): HeldJob | undefined {
    const { hold, tenant } = job.data
    return hold === undefined ? undefined : { queue: this.#queue, id: idOf(job), tenant, hold }
  }
}
