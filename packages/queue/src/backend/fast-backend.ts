import type { Adder } from './add-jobs.ts'
import { jobChannel, replyChannel, type ScriptCall, idOf } from '@toolyard/store'
import type { bullmq } from '../record/bullmq.ts'
import { fastScripts, type JobScripts } from './scripts/job-scripts.ts'
import { JobBackend, type End, type Ended, type JobBackendParts, type TakenFields } from './job-backend.ts'
import { JobSettler } from './job-settler.ts'
import { lockMs } from './timed/lock-renewal.ts'
import { addPlainKeys, finishPlainKeys, takePlainKeys, takePlainScript } from './scripts/plain-scripts.ts'
import type { NextJob } from './timed/timed-backend.ts'

/** The settler's answer where the job has ended, and BullMQ must be asked for the next one. */
const askBullmq = 1

/**
 * Scripts of our own for plain jobs: one command adds those of a request, and one settles those that end in one turn of the
 * event loop. All other jobs are left to BullMQ's scripts. Both leave the same in Redis, except the stream of events, which
 * nobody here reads.
 */
export class FastBackend extends JobBackend {
  readonly #settler: JobSettler

  constructor (parts: JobBackendParts, ...rest: ConstructorParameters<typeof bullmq.RedisQueueBackend>) {
    super(parts, ...rest)
    const { age, count, limit } = this.keep
    this.#settler = new JobSettler(this.redis, () => this.#shared(finishPlainKeys, [...this.#taking(), age, count, limit, jobChannel(''), replyChannel('')]))
  }

  protected override get scripts (): JobScripts {
    return fastScripts
  }

  override async moveToActive (token: string): Promise<NextJob<TakenFields>> {
    const askedAt = performance.now()
    const [reply] = await takePlainScript.run(this.redis, [{ keys: [], args: [token] }], this.#shared(takePlainKeys, this.#taking()))
    return Array.isArray(reply) ? this.nextJob(reply, askedAt) : await super.moveToActive(token)
  }

  protected override adder (): Adder {
    return { ...super.adder(), plain: this.#shared(addPlainKeys, []) }
  }

  protected override async settle (end: End): Promise<Ended> {
    const { job, job: { parentKey }, token, sign, text, stack, at, fetchNext, awaited, runs } = end
    const plain = { keys: [], args: [idOf(job), token, sign, text, stack, at, fetchNext && this.closing === undefined ? '1' : '', awaited, runs] }
    const askedAt = performance.now()
    const reply = parentKey === undefined ? await this.#settler.settle(plain) : undefined
    if (reply === undefined) return await super.settle(end)
    if (reply[0] !== askBullmq) return this.ended(job, reply, askedAt)
    // The job has ended, whatever becomes of the next: another place of the worker takes it.
    return { next: await super.moveToActive(token).catch(() => []), dependents: reply[1] }
  }

  /** What a script that takes jobs gets. */
  #taking (): [number, number, string] {
    const { opts } = this.queue
    return [this.now(), lockMs, 'name' in opts && typeof opts.name === 'string' ? opts.name : '']
  }

  /** What a script of plain jobs gets in all calls. */
  #shared (types: readonly string[], args: ScriptCall['args']): ScriptCall {
    return { keys: types.map(type => this.toKey(type)), args: [this.toKey(''), ...args] }
  }
}
