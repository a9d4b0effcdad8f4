import type { Adder } from './add-jobs.ts'
import type { bullmq } from '../redis/bullmq.ts'
import { fastScripts, type JobScripts } from './job-scripts.ts'
import { JobBackend, type End, type Ended, type JobBackendParts, type TakenFields } from './job-backend.ts'
import { JobSettler } from './job-settler.ts'
import { lockMs } from './lock.ts'
import { jobChannel, replyChannel } from '../redis/names.ts'
import { addPlainKeys, finishPlainKeys, takePlainKeys, takePlainScript } from './plain-scripts.ts'
import type { ScriptCall } from '../redis/batched-script.ts'
import type { NextJob } from './timed-backend.ts'
import type { Taken, WaitingTake } from './waiting-take.ts'
import { idOf } from '../record/job-id.ts'

/** How long a worker waits at most, in seconds, before it waits anew, where its wait takes a job. */
const waitSec = 2
/** A job that was taken less than so many milliseconds ago is still held. */
const heldMs = lockMs - 500
/** The settler's answer where the job has ended, and BullMQ must be asked for the next one. */
const askBullmq = 1

/** What it works with. */
export interface FastBackendParts extends JobBackendParts {
  /** For a worker that takes jobs while it waits. */
  waiting?: WaitingTake | undefined
}

/**
 * The same for many jobs at once: those of a request are added with one command, and those that end in one turn of the
 * event loop are settled with one. Plain jobs have scripts of their own; all others are left to BullMQ's. What both leave in
 * Redis is BullMQ's, but for the stream of events, which nobody here reads.
 */
export class FastBackend extends JobBackend {
  readonly #waiting: WaitingTake | undefined
  readonly #settler: JobSettler

  constructor ({ waiting, ...parts }: FastBackendParts, ...rest: ConstructorParameters<typeof bullmq.RedisQueueBackend>) {
    super(parts, ...rest)
    this.#waiting = waiting
    const { age, count, limit } = this.keep
    this.#settler = new JobSettler(this.redis, this.scripts.moveToFinished, () => this.#shared(finishPlainKeys, [this.now(), lockMs, age, count, limit, jobChannel(''), replyChannel('')]))
  }

  protected override get scripts (): JobScripts {
    return fastScripts
  }

  /** In seconds: who stands still while it waits must not hold a job longer than its lock. */
  override get maximumBlockTimeout (): number {
    return this.#waiting === undefined ? super.maximumBlockTimeout : waitSec
  }

  /** The worker's next wait takes a job with this token. */
  waitAs (token: string): void {
    const shared = this.#takeShared()
    this.#waiting?.prepare(token, async redis => await takePlainScript.run(redis, [{ keys: [], args: [token] }], shared))
  }

  override async moveToActive (token: string): Promise<NextJob<TakenFields>> {
    const taken = this.#waiting?.taken(token)
    if (taken !== undefined) return await this.#passOn(taken, token)
    const [reply] = await takePlainScript.run(this.redis, [{ keys: [], args: [token] }], this.#takeShared())
    return Array.isArray(reply) ? this.nextJob(reply) : await super.moveToActive(token)
  }

  protected override adder (): Adder {
    return { ...super.adder(), plain: this.#shared(addPlainKeys, []) }
  }

  protected override async settle (end: End): Promise<Ended> {
    const { job, job: { parentKey }, token, sign, text, stack, at, fetchNext, awaited, runs } = end
    const plain = { keys: [], args: [idOf(job), token, sign, text, stack, at, fetchNext && this.closing === undefined ? '1' : '', awaited, runs] }
    const reply = await this.#settler.settle({ plain: parentKey === undefined ? plain : undefined, general: end.call })
    if (reply[0] !== askBullmq) return this.ended(job, reply)
    // The job has ended, whatever becomes of the next: another place of the worker takes it.
    return { next: await super.moveToActive(token).catch(() => []), dependents: reply[1] }
  }

  /** What was taken long ago may be another worker's by now. */
  async #passOn ({ reply, ageMs }: Taken, token: string): Promise<NextJob<TakenFields>> {
    const next = this.nextJob(reply)
    const [fields, id] = next
    if (fields === null) return next
    fields.processedOn = this.now()
    if (ageMs < heldMs) return next
    if (!await this.runs.beginId(id, token)) return this.nextJob([0, 0, 0, 0])
    if (fields.isUnbegun === true) Object.assign(fields, { isUnbegun: false, attemptsStarted: Number(fields.attemptsMade) + 1 })
    return next
  }

  #takeShared (): ScriptCall {
    return this.#shared(takePlainKeys, [this.now(), lockMs])
  }

  /** What a script of plain jobs gets in all calls. */
  #shared (types: readonly string[], args: ScriptCall['args']): ScriptCall {
    return { keys: types.map(type => this.toKey(type)), args: [this.toKey(''), ...args] }
  }
}
