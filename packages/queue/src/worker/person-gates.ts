import type { CallError, JobData } from '@toolyard/contract'
import type { Job } from 'bullmq'
import type { Redis } from '@toolyard/store'
import { bullmq } from '../record/bullmq.ts'
import type { WaitRecord } from '../queues/release.ts'
import type { HandlerResult } from './handler.ts'
import { HoldGate } from './hold-gate.ts'
import { QuestionGate } from './question-gate.ts'
import type { Run } from './run.ts'

/** A job that waits for a person: for how long at most, and what says so. */
export interface Waits { kind: 'parks', ms: number, record: WaitRecord }

/** What becomes of a job that a worker has taken: it runs, ends, or waits for a person. */
export type Pass = { kind: 'runs' } & Pick<Run, 'approved' | 'answers' | 'memo'> | { kind: 'ends', error: CallError } | Waits

export class PersonGates {
  readonly #holds: HoldGate
  readonly #questions: QuestionGate

  constructor (redis: Redis, queue: string) {
    this.#holds = new HoldGate(redis, queue)
    this.#questions = new QuestionGate(redis, queue)
  }

  /** To be asked before anything of a job runs. @throws WaitingError for a job that is another worker's by now */
  async enter (job: Job<JobData>, token: string): Promise<Pass> {
    const held = await this.#holds.enter(job, token)
    if (held?.kind === 'lost') throw new bullmq.WaitingError()
    if (held?.kind === 'ends') return held
    if (held?.kind === 'parks') return this.#until(held.ms, this.#holds)
    const asked = await this.#questions.enter(job)
    if (asked?.kind === 'ends') return asked
    if (asked?.kind === 'parks') return this.#until(asked.ms, this.#questions)
    return { kind: 'runs', approved: held?.digest, answers: asked?.answers, memo: asked?.memo }
  }

  /** What a run waits for that ended so. @throws WaitingError for a job that is another worker's by now */
  async waitsFor (
    { job, token, answers = [] }: Run, result: Extract<HandlerResult, { kind: 'held' | 'asks' }>
  ): Promise<Waits> {
    const ms = result.kind === 'held'
      ? await this.#holds.holdAgain(job, token, result.held)
      : await this.#questions.ask(job, token, { question: result.ask, number: answers.length + 1 })
    if (ms === undefined) throw new bullmq.WaitingError()
    return this.#until(ms, result.kind === 'held' ? this.#holds : this.#questions)
  }

  #until (ms: number, gate: HoldGate | QuestionGate): Waits {
    return { kind: 'parks', ms, record: gate.record }
  }
}
