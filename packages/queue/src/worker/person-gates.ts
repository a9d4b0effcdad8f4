import type { CallError, JobData } from '@toolyard/contract'
import type { Job } from 'bullmq'
import type { Redis } from '@toolyard/store'
import type { WaitRecord } from '../queues/release.ts'
import type { HandlerResult } from './handler.ts'
import { HoldGate } from './hold-gate.ts'
import { QuestionGate } from './question-gate.ts'
import type { Run } from './run.ts'

/** A job that waits for a person: for how long at most, and what says so. */
export interface Waits { kind: 'parks', ms: number, record: WaitRecord }

/** What becomes of a job that a worker has taken: it runs, ends, waits for a person, or is another worker's by now. */
export type Pass = { kind: 'runs' } & Pick<Run, 'approved' | 'answers' | 'memo'> | { kind: 'ends', error: CallError } | Waits | { kind: 'lost' }

export class PersonGates {
  readonly #holds: HoldGate
  readonly #questions: QuestionGate

  constructor (redis: Redis, queue: string) {
    this.#holds = new HoldGate(redis, queue)
    this.#questions = new QuestionGate(redis, queue)
  }

  /** To be asked before anything of a job runs. */
  async enter (job: Job<JobData>, token: string): Promise<Pass> {
    const held = await this.#holds.enter(job, token)
    if (held?.kind === 'ends' || held?.kind === 'lost') return held
    if (held?.kind === 'parks') return this.#until(held.ms, this.#holds)
    const asked = await this.#questions.enter(job)
    if (asked?.kind === 'ends') return asked
    if (asked?.kind === 'parks') return this.#until(asked.ms, this.#questions)
    return { kind: 'runs', approved: held?.digest, answers: asked?.answers, memo: asked?.memo }
  }

  /** What a run waits for that ended so; undefined for a job that is another worker's by now. */
  async waitsFor (
    { job, token, answers = [] }: Run, result: Extract<HandlerResult, { kind: 'held' | 'asks' }>
  ): Promise<Waits | undefined> {
    const ms = result.kind === 'held'
      ? await this.#holds.holdAgain(job, token, result.held)
      : await this.#questions.ask(job, token, { question: result.ask, number: answers.length + 1 })
    return ms === undefined ? undefined : this.#until(ms, result.kind === 'held' ? this.#holds : this.#questions)
  }

  #until (ms: number, gate: HoldGate | QuestionGate): Waits {
    return { kind: 'parks', ms, record: gate.record }
  }
}
