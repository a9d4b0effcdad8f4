import type { CallError, JobData } from '@toolyard/contract'
import type { Job } from 'bullmq'
import { idOf, type Redis } from '@toolyard/store'
import { admitAsked, noteQuestion, type AskingJob } from '../queues/asked-jobs.ts'
import { publicPriority } from '../queues/fair-order.ts'
import type { WaitRecord } from '../queues/release.ts'
import { indexEntries } from '../record/job-index.ts'
import { askedField, hasAsked, inputExpired, type Question } from '../record/question.ts'

/** Whether a job may run whose tool has asked something: with its answers, not any more, or not yet. */
export type QuestionPass = { kind: 'runs', answers: readonly string[], memo: string | undefined } | { kind: 'ends', error: CallError } | { kind: 'parks', ms: number }

export class QuestionGate {
  readonly record: WaitRecord = { field: askedField, state: 'asked', ends: 'ends' }
  readonly #redis: Redis
  readonly #queue: string

  constructor (redis: Redis, queue: string) {
    this.#redis = redis
    this.#queue = queue
  }

  /** To be asked before a job runs that this worker has taken; undefined for one that has asked nothing. */
  async enter (job: Job<JobData>): Promise<QuestionPass | undefined> {
    if (!hasAsked(job)) return undefined
    const { state, leftMs, answers, memo } = await admitAsked(this.#redis, this.#asking(job))
    if (state === 'asked') return { kind: 'parks', ms: leftMs }
    return state === 'expired' ? { kind: 'ends', error: inputExpired } : { kind: 'runs', answers, memo }
  }

  /** Answers for how many milliseconds the job is parked; undefined for one that is another worker's by now. */
  async ask (job: Job<JobData>, token: string, asked: { question: Question, number: number }): Promise<number | undefined> {
    const ms = await noteQuestion(this.#redis, this.#asking(job), { token, ...asked, replyTo: job.data.replyTo, entries: entriesOf(job) })
    // As the note has it.
    job.attemptsStarted = job.attemptsMade + 1
    return ms
  }

  #asking (job: Job<JobData>): AskingJob {
    return { queue: this.#queue, id: idOf(job), tenant: job.data.tenant }
  }
}

/** What stands in the index of jobs that wait for a person. */
export function entriesOf (job: Job<JobData>): string[] {
  const { name: type, data, priority, opts: { attempts = 1 } } = job
  return indexEntries({ id: idOf(job), type, data, priority: publicPriority(priority), maxAttempts: attempts })
}
