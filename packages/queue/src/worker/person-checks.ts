import type { CallError, Hold, JobData } from '@toolyard/contract'
import type { Job } from 'bullmq'
import { idOf, jobKey, type Redis } from '@toolyard/store'
import { admitAsked, noteQuestion } from '../queues/asked-jobs.ts'
import { enterEvents } from '../queues/callback-outbox.ts'
import { publicPriority } from '../queues/fair-order.ts'
import { admitHeld, holdAgain, type HeldJob } from '../queues/held-jobs.ts'
import type { WaitRecord } from '../queues/release.ts'
import { approvalDenied, approvalExpired, approvalField, decodeApproval } from '../record/approval.ts'
import { indexEntries } from '../record/job-index.ts'
import { askedField, hasAsked, inputExpired } from '../record/question.ts'
import type { HandlerResult } from './handler.ts'
import type { Run } from './run.ts'

/** A job that waits for a person: for how many milliseconds at most, and what says so. */
export interface Waits { kind: 'parks', ms: number, record: WaitRecord }

/** A job that a worker has taken runs, ends, waits for a person, or is another worker's by now. */
type Pass = { kind: 'runs' } & Pick<Run, 'approved' | 'answers' | 'memo'> | { kind: 'ends', error: CallError } | Waits | { kind: 'lost' }

const heldRecord: WaitRecord = { field: approvalField, state: 'held', ends: 'expiresAt' }
const askedRecord: WaitRecord = { field: askedField, state: 'asked', ends: 'ends' }

/** The jobs of one queue that need an approval, or whose tool has asked something. */
export class PersonChecks {
  readonly #redis: Redis
  readonly #queue: string

  constructor (redis: Redis, queue: string) {
    this.#redis = redis
    this.#queue = queue
  }

  /** To be asked before anything of a job runs. */
  async enter (job: Job<JobData>, token: string): Promise<Pass> {
    const { hold } = job.data
    const pass = hold === undefined ? { kind: 'runs' } as const : await this.#enterHeld(job, token, hold)
    if (pass.kind !== 'runs' || !hasAsked(job)) return pass
    const { state, leftMs: ms, answers, memo } = await admitAsked(this.#redis, this.#placeOf(job))
    if (state === 'unasked') return pass
    if (state === 'asked') return { kind: 'parks', ms, record: askedRecord }
    return state === 'expired' ? { kind: 'ends', error: inputExpired } : { ...pass, answers, memo }
  }

  /** For a run that ended with a question; undefined for a job that is another worker's by now. */
  async waitsFor ({ job, token, repeat, answers = [] }: Run, result: Extract<HandlerResult, { kind: 'held' | 'asks' }>): Promise<Waits | undefined> {
    if (result.kind === 'asks') {
      const asked = { token, questions: result.ask, number: answers.length + 1, replyTo: job.data.replyTo, entries: entriesOf(job) }
      const ms = await repeat(() => noteQuestion(this.#redis, this.#placeOf(job), asked))
      // As the note has it.
      job.attemptsStarted = job.attemptsMade + 1
      return ms === undefined ? undefined : { kind: 'parks', ms, record: askedRecord }
    }
    const { hold } = job.data
    if (hold === undefined) return { kind: 'parks', ms: 0, record: heldRecord }
    await repeat(() => this.#tell(job))
    const ms = await repeat(() => holdAgain(this.#redis, { ...this.#placeOf(job), hold }, result.held, { token, entries: entriesOf(job) }))
    return ms === undefined ? undefined : { kind: 'parks', ms, record: heldRecord }
  }

  async #enterHeld (job: Job<JobData>, token: string, hold: Hold): Promise<Pass> {
    const admitted = await admitHeld(this.#redis, { ...this.#placeOf(job), hold }, { token, entries: entriesOf(job) })
    if (admitted === undefined) return { kind: 'lost' }
    const { state, leftMs, digest } = admitted
    if (state === 'approved') return { kind: 'runs', approved: digest }
    if (state !== 'held') return { kind: 'ends', error: state === 'expired' ? approvalExpired : await this.#denial(idOf(job)) }
    // An operator may have run it again. It is told of once for each time that it is held.
    await this.#tell(job)
    return { kind: 'parks', ms: leftMs, record: heldRecord }
  }

  async #tell (job: Job<JobData>): Promise<void> {
    await enterEvents(this.#redis, 'approval.requested', [{ ...job.data, queue: this.#queue, id: idOf(job) }])
  }

  async #denial (id: string): Promise<CallError> {
    return approvalDenied(decodeApproval(await this.#redis.hget(jobKey(this.#queue, id), approvalField)) ?? {})
  }

  #placeOf (job: Job<JobData>): Omit<HeldJob, 'hold'> {
    return { queue: this.#queue, id: idOf(job), tenant: job.data.tenant }
  }
}

/** For the index of jobs that wait for a person. */
function entriesOf (job: Job<JobData>): string[] {
  const { name: type, data, priority, opts: { attempts = 1 } } = job
  return indexEntries({ id: idOf(job), type, data, priority: publicPriority(priority), maxAttempts: attempts })
}
