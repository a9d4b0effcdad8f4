import type { JobData } from '@toolyard/contract'
import type { JobJson, MinimalJob, MoveToDelayedOpts, ParentKeyOpts } from 'bullmq'
import { addJobs, type AddCommand, type AddedJob } from './add-jobs.ts'
import type { ScriptCall } from '../redis/batched-script.ts'
import { Beginnings } from './beginnings.ts'
import { bullmq } from '../redis/bullmq.ts'
import type { Redis } from '../redis/connection.ts'
import { finishKeys, stalledKeys, stalledScript, takeKeys, takeScript, unbegunField } from './job-scripts.ts'
import { JobRuns } from './job-runs.ts'
import { JobSettler } from './job-settler.ts'
import { lockMs } from './lock.ts'
import { createdKey, jobChannel, publicName, replyChannel } from '../redis/names.ts'
import { addPlainKeys, finishPlainKeys, takePlainKeys, takePlainScript } from './plain-scripts.ts'
import type { Replicas } from '../redis/checks/replicas.ts'
import { keepJobs, type Retention } from '../record/retention.ts'
import { TimedBackend, type NextJob } from './timed-backend.ts'
import type { Taken, WaitingTake } from './waiting-take.ts'

/** The fields of a job that was taken. */
export interface TakenFields extends JobJson {
  /** Those for whom it was taken may never have run it: see `JobRuns`. */
  isUnbegun?: boolean
}

/** What is known of a job beside its record; in the job itself, since a WeakSet of short-lived objects costs the garbage collector a lot. */
const alone = Symbol('alone')
const endedAt = Symbol('endedAt')
interface Known {
  /** Whether no job depends on it. */
  [alone]?: boolean
  /** When its run ended, by Redis' clock: by this a settlement that is sent again is known. */
  [endedAt]?: number
}

/** How long a worker waits at most, in seconds, before it waits anew, where its wait takes a job. */
const waitSec = 2
/** A job that was taken less than so many milliseconds ago is still held. */
const heldMs = lockMs - 500

/** What a backend works with. */
export interface JobBackendParts {
  redis: Redis
  /** For a worker that takes jobs while it waits. */
  waiting?: WaitingTake | undefined
  retention: Retention
  /** Those that must have the jobs that are added, and know of the beginning of one that may run only once; undefined: none. */
  replicas?: Replicas | undefined
}

/** How a job ends: its return value, or the reason and the stack of its failure. */
interface End {
  sign: '+' | '-'
  text: string
  stack: string
  fetchNext: boolean
  /** For BullMQ's script. */
  args: () => ReadonlyArray<string | number | boolean | Buffer>
}

/**
 * BullMQ's access to the jobs of one queue, for many jobs at once: those of a request are added with one command, and
 * those that end in one turn of the event loop are settled with one. Plain jobs have scripts of their own; all others are
 * left to BullMQ's. What both leave in Redis is BullMQ's, but for the stream of events, which nobody here reads.
 */
export class JobBackend extends TimedBackend {
  readonly #keep: ReturnType<typeof keepJobs>
  readonly #waiting: WaitingTake | undefined
  readonly #replicas: Replicas | undefined
  readonly #settler: JobSettler
  /** Which jobs were run. */
  readonly runs: JobRuns

  constructor ({ redis, waiting, retention, replicas }: JobBackendParts, ...rest: ConstructorParameters<typeof bullmq.RedisQueueBackend>) {
    super(redis, ...rest)
    this.#waiting = waiting
    this.#replicas = replicas
    this.runs = new JobRuns({ redis, keyOf: id => this.toKey(id), now: () => this.now(), beginnings: new Beginnings(redis, replicas) })
    this.#keep = keepJobs(retention)
    const { age, count, limit } = this.#keep
    this.#settler = new JobSettler(redis, () => this.#shared(finishPlainKeys, [this.now(), lockMs, age, count, limit, jobChannel(''), replyChannel('')]))
  }

  /** Whether other jobs may wait for a job that was settled here. */
  mayHaveDependents (job: MinimalJob & Known): boolean {
    return job[alone] !== true
  }

  /**
   * Adds jobs; one whose id exists is left as it is.
   *
   * @returns the errors of those that were refused, by id
   */
  async addAll (jobs: readonly AddedJob[]): Promise<Map<string, Error>> {
    return await addJobs(this.redis, jobs, {
      shared: this.#shared(addPlainKeys, []),
      created: createdKey(publicName(this.name)),
      replicas: this.#replicas,
      keyOf: id => this.toKey(id),
      commandOf: async (id, { job, parent }) => await this.#commandOf(job, id, parent),
      errorOf: (code, jobId) => this.finishedErrors({ code, jobId, command: 'addJob' })
    })
  }

  override async moveToCompleted (job: MinimalJob, value: unknown, _keep: unknown, token: string, fetchNext: boolean): Promise<{ result: unknown[] | undefined, finishedOn: number }> {
    const text = (JSON.stringify(value) as string | undefined) ?? 'null'
    return await this.#finish(job, token, { sign: '+', text, stack: '', fetchNext, args: () => this.moveToCompletedArgs(job, text, this.#keep, token, fetchNext) })
  }

  /** @param message of what was thrown; undefined where that was no error. */
  override async moveToFailed (job: MinimalJob, message: string | undefined, _keep: unknown, token: string, fetchNext: boolean, fields?: Record<string, unknown>): Promise<{ result: unknown[] | undefined, finishedOn: number }> {
    const reason = message ?? ''
    const stack = typeof fields?.['stacktrace'] === 'string' ? fields['stacktrace'] : '[]'
    return await this.#finish(job, token, { sign: '-', text: reason, stack, fetchNext, args: () => this.moveToFailedArgs(job, reason, this.#keep, token, fetchNext, fields) })
  }

  /** What BullMQ tells of the next job then doesn't say whether its run has begun: the worker asks for it. */
  override async moveToDelayed (id: string, timestamp: number, delay: number, token?: string, options?: MoveToDelayedOpts): Promise<void> {
    await super.moveToDelayed(id, timestamp, delay, token, { ...options, fetchNext: false })
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
    return this.#nextJob(Array.isArray(reply) ? reply : await this.#takeAny(token))
  }

  override async moveStalledJobsToWait (): Promise<string[]> {
    const args = this.moveStalledJobsToWaitArgs()
    const [reply] = await stalledScript.run(this.redis, [{ keys: args.slice(0, stalledKeys.length).map(String), args: args.slice(stalledKeys.length) }])
    if (reply instanceof Error) throw reply
    return reply as string[]
  }

  /** What was taken long ago may be another worker's by now. */
  async #passOn ({ reply, ageMs }: Taken, token: string): Promise<NextJob<TakenFields>> {
    const next = this.#nextJob(reply)
    const [fields, id] = next
    if (fields === null) return next
    fields.processedOn = this.now()
    if (ageMs < heldMs) return next
    if (!await this.runs.beginId(id, token)) return this.#nextJob([0, 0, 0, 0])
    if (fields.isUnbegun === true) Object.assign(fields, { isUnbegun: false, attemptsStarted: Number(fields.attemptsMade) + 1 })
    return next
  }

  /** Takes a job wherever there may be one, with BullMQ's script. */
  async #takeAny (token: string): Promise<unknown[]> {
    const [reply] = await takeScript.run(this.redis, [{ keys: takeKeys.map(type => this.keys[type] ?? ''), args: [this.toKey(''), this.now(), token, lockMs] }])
    if (reply instanceof Error) throw reply
    return reply as unknown[]
  }

  #takeShared (): ScriptCall {
    return this.#shared(takePlainKeys, [this.now(), lockMs])
  }

  /** What a script of plain jobs gets in all calls. */
  #shared (types: readonly string[], args: ScriptCall['args']): ScriptCall {
    return { keys: types.map(type => this.keys[type] ?? ''), args: [this.toKey(''), ...args] }
  }

  /** What BullMQ would send. */
  async #commandOf (job: JobJson, id: string, parent: ParentKeyOpts): Promise<AddCommand> {
    let command: AddCommand | undefined
    const listening = { runCommand: (name: string, args: AddCommand['args']) => { command = { name: name.split(':')[0] ?? '', args } } }
    await this.addJobToTransaction(listening as never, job, id, parent)
    if (command === undefined) throw new Error('BullMQ adds a job without a command')
    return command
  }

  async #finish (job: MinimalJob & Known, token: string, { sign, text, stack, fetchNext, args }: End): Promise<{ result: unknown[] | undefined, finishedOn: number }> {
    const id = job.id ?? ''
    const { replyTo } = job.data as JobData
    const runs = this.runs.isUnbegun(job) ? job.attemptsMade + 1 : ''
    const finishedOn = job[endedAt] ??= this.now()
    const plainArgs = [id, token, sign, text, stack, finishedOn, fetchNext && this.closing === undefined ? '1' : '', replyTo ?? '', runs]
    const [reply, dependents] = await this.#settler.settle({
      plain: job.parentKey === undefined ? { keys: [], args: plainArgs } : undefined,
      general: () => {
        const all = args()
        const own = all.slice(finishKeys) as Array<string | number | Buffer | undefined>
        // The time by which a command that is sent again is known.
        own[1] = finishedOn
        return {
          keys: all.slice(0, finishKeys) as string[],
          args: [...own.map(arg => arg ?? ''), jobChannel(id), replyTo === undefined ? '' : replyChannel(replyTo), runs]
        }
      },
      takeNext: async () => await this.#takeAny(token)
    })
    if (dependents === 0) job[alone] = true
    if (typeof reply === 'number' && reply < 0) throw this.finishedErrors({ code: reply, jobId: id, command: 'moveToFinished', state: 'active' })
    return { result: this.#nextJob(reply), finishedOn }
  }

  #nextJob (reply: unknown): NextJob<TakenFields> {
    const next = this.inLocalTime(bullmq.raw2NextJobData(reply as never)) as NextJob<TakenFields>
    const fields = Array.isArray(reply) ? reply[0] as unknown : undefined
    if (Array.isArray(fields) && isAmong(fields, unbegunField)) Object.assign(next[0] ?? {}, { isUnbegun: true })
    return next
  }
}

/** Whether a hash, as Redis tells it, has a field: names and values come in turn. */
function isAmong (pairs: readonly unknown[], name: string): boolean {
  return pairs.includes(name) && pairs.some((text, place) => text === name && place % 2 === 0)
}
