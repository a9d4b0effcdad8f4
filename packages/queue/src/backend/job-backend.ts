import type { JobData } from '@toolyard/contract'
import type { JobJson, MinimalJob, MoveToDelayedOpts } from 'bullmq'
import { addJobs, commandOf, type AddedJob, type Adder } from './add-jobs.ts'
import { Beginnings } from './beginnings.ts'
import { GatheredCalls, type Redis, createdKey, jobChannel, publicName, replyChannel, type Replicas, type ScriptCall, idOf, fromRedis } from '@toolyard/store'
import { bullmq } from '../record/bullmq.ts'
import { jobScripts, unbegunField, type BullmqArgs } from './scripts/job-scripts.ts'
import { addPlainKeys, addPlainScript, finishPlainKeys, finishPlainScript, takePlainKeys, takePlainScript } from './scripts/plain-scripts.ts'
import { JobRuns } from './job-runs.ts'
import type { End, Ended, EndReply } from './job-end.ts'
import { lockMs } from './timed/lock-renewal.ts'
import { runAgain, type RunAgain, type RunAgainResult } from './run-again.ts'
import { heldKey } from '../record/approval.ts'
import { keepJobs, type Retention } from '../record/retention.ts'
import { TimedBackend, type BullmqClient, type NextJob } from './timed/timed-backend.ts'
import type { SharedWait } from './shared-wait.ts'
import { WakeUps } from './wake-ups.ts'

export interface TakenFields extends JobJson {
  /** No worker that took this job has noted that it began to run it: see `JobRuns`. */
  isUnbegun?: boolean
  /** Before the command was sent that took it, by `performance.now()`. */
  askedAt?: number
}

/** Notes on a job that is being settled; in the job itself, since a WeakSet of short-lived objects costs the garbage collector a lot. */
const hasNoDependents = Symbol('hasNoDependents')
const endedAt = Symbol('endedAt')
interface SettlementNotes {
  /** Whether no job depends on it. */
  [hasNoDependents]?: boolean
  /** When its run ended, by Redis' clock. A settlement that is sent again has the same time and is recognized by it. */
  [endedAt]?: number
}

export interface JobBackendParts {
  redis: Redis
  retention: Retention
  /** They must have a job before its add is answered, and a beginning before a tool runs that may run only once; undefined: none. */
  replicas?: Replicas | undefined
  /** What a worker waits for jobs with; undefined: a connection of its own. */
  wait?: SharedWait | undefined
}

/** The settler's answer where the job has ended, and BullMQ must be asked for the next one. */
const askBullmq = 1

/**
 * BullMQ's access to the jobs of one queue. Plain jobs have scripts of our own: one command adds all that are made in one turn
 * of the event loop, and one settles all that end in it. All others are left to BullMQ's scripts, with what Toolyard promises
 * around them. Both leave the same in Redis.
 */
export class JobBackend extends TimedBackend {
  readonly runs: JobRuns
  readonly wakeUps: WakeUps
  readonly #keep: ReturnType<typeof keepJobs>
  /** Adds and ends of plain jobs. */
  readonly #adds: GatheredCalls
  readonly #ends: GatheredCalls
  readonly #replicas: Replicas | undefined
  readonly #wait: SharedWait | undefined
  /** Ids of jobs that BullMQ's script has just taken, and whose run has not begun: BullMQ drops what it doesn't know. */
  readonly #unbegun = new Set<string>()

  constructor ({ redis, retention, replicas, wait }: JobBackendParts, ...rest: ConstructorParameters<typeof bullmq.RedisQueueBackend>) {
    super(redis, ...rest)
    this.#replicas = replicas
    this.#wait = wait
    this.runs = new JobRuns({ redis, keyOf: id => this.toKey(id), now: () => this.now(), beginnings: new Beginnings(redis, replicas) })
    this.wakeUps = new WakeUps(redis, part => this.toKey(part))
    this.#keep = keepJobs(retention)
    const { age, count, limit } = this.#keep
    this.#adds = new GatheredCalls(async calls => await addPlainScript.run(redis, calls, this.#addsShared()))
    this.#ends = new GatheredCalls(async calls => await finishPlainScript.run(
      redis, calls, this.#shared(finishPlainKeys, [...this.#taking(), age, count, limit, jobChannel(''), replyChannel('')])
    ))
  }

  /** Whether other jobs may wait for a job that was settled here. */
  mayHaveDependents (job: MinimalJob & SettlementNotes): boolean {
    return job[hasNoDependents] !== true
  }

  /**
   * Adds jobs; one whose id exists is left as it is.
   *
   * @returns the errors of those that were refused, by id
   */
  async addAll (jobs: readonly AddedJob[]): Promise<Map<string, Error>> {
    return await addJobs(this.redis, jobs, this.#adder())
  }

  override async moveToCompleted (
    job: MinimalJob, value: unknown, _keep: unknown, token: string, fetchNext: boolean
  ): Promise<{ result: unknown[] | undefined, finishedOn: number }> {
    const text = (JSON.stringify(value) as string | undefined) ?? 'null'
    return await this.#finish(job, { token, sign: '+', text, stack: '', fetchNext })
  }

  /** @param message of what was thrown; undefined where that was no error. */
  override async moveToFailed (
    job: MinimalJob, message: string | undefined, _keep: unknown, token: string, fetchNext: boolean, fields?: Record<string, unknown>
  ): Promise<{ result: unknown[] | undefined, finishedOn: number }> {
    const stack = typeof fields?.['stacktrace'] === 'string' ? fields['stacktrace'] : '[]'
    return await this.#finish(job, { token, sign: '-', text: message ?? '', stack, fetchNext }, fields)
  }

  /** What BullMQ tells of the next job then doesn't say whether its run has begun: the worker asks for it. */
  override async moveToDelayed (id: string, timestamp: number, delay: number, token?: string, options?: MoveToDelayedOpts): Promise<void> {
    await super.moveToDelayed(id, timestamp, delay, token, { ...options, fetchNext: false })
  }

  /** A Redis that is full still gives out its jobs, and takes back those of lost workers: else it would stay full. */
  override execCommand (client: BullmqClient, command: string, args: unknown[]): unknown {
    if (command !== 'moveToActive' && command !== 'moveStalledJobsToWait') return super.execCommand(client, command, args)
    const wrapped = jobScripts[command]
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- BullMQ made them.
    const call = wrapped.call(this.inServerTime(command, args) as BullmqArgs, [this.toKey('meta')], command === 'moveToActive' ? [this.toKey('')] : [])
    return wrapped.script.run(this.redis, [call]).then(([reply]) => {
      if (reply instanceof Error) throw reply
      if (command === 'moveToActive' && isUnbegun(reply)) this.#unbegun.add(fromRedis<[unknown, string]>(reply)[1])
      return reply
    })
  }

  override async moveToActive (token: string): Promise<NextJob<TakenFields>> {
    const askedAt = performance.now()
    const [reply] = await takePlainScript.run(this.redis, [{ keys: [], args: [token] }], this.#shared(takePlainKeys, this.#taking()))
    return Array.isArray(reply) ? this.#nextJob(reply, askedAt) : await this.#takeByBullmq(token)
  }

  override async waitForJob (blockTimeout: number): ReturnType<typeof TimedBackend.prototype.waitForJob> {
    this.wakeUps.noteWait()
    if (this.#wait === undefined) return await super.waitForJob(blockTimeout)
    return this.markerInLocalTime(await this.#wait.wait(this.toKey('marker'), blockTimeout) ?? null)
  }

  /** BullMQ calls this to end the wait of a worker that closes. */
  override async disconnectBlocking (wait?: boolean): Promise<void> {
    this.#wait?.leave(this.toKey('marker'))
    await super.disconnectBlocking(wait)
  }

  /** Puts a failed job back, with all its attempts. */
  async runAgain (id: string, wish: RunAgain): Promise<RunAgainResult> {
    return await runAgain({ redis: this.redis, queue: publicName(this.name), now: this.now(), toKey: part => this.toKey(part) }, id, wish)
  }

  #adder (): Adder {
    return {
      adds: this.#adds,
      addsShared: () => this.#addsShared(),
      created: createdKey(publicName(this.name)),
      held: heldKey(publicName(this.name)),
      meta: this.toKey('meta'),
      replicas: this.#replicas,
      keyOf: id => this.toKey(id),
      commandOf: async (id, made) => await commandOf(this, id, made),
      errorOf: (code, jobId) => this.finishedErrors({ code, jobId, command: 'addJob' })
    }
  }

  /** @throws what Redis says to the job, or the connection. */
  async #settle ({ job, token, sign, text, stack, at, fetchNext, awaited, runs, call }: End): Promise<Ended> {
    const plain = { keys: [], args: [idOf(job), token, sign, text, stack, at, fetchNext && this.closing === undefined ? '1' : '', awaited, runs] }
    const askedAt = performance.now()
    // Undefined for a job that isn't plain.
    const [reply] = job.parentKey === undefined ? await this.#ends.replies([plain]) : []
    const settled = Array.isArray(reply) ? fromRedis<EndReply>(reply) : undefined
    // The job has ended, whatever becomes of the next: another place of the worker takes it.
    if (settled?.[0] === askBullmq) return { next: await this.#takeByBullmq(token).catch(() => []), dependents: settled[1] }
    if (settled !== undefined) return this.#ended(job, settled, askedAt)
    const generalAskedAt = performance.now()
    const [ended] = await jobScripts.moveToFinished.script.run(this.redis, [call()])
    if (!Array.isArray(ended)) throw ended
    return this.#ended(job, fromRedis(ended), generalAskedAt)
  }

  async #takeByBullmq (token: string): Promise<NextJob<TakenFields>> {
    const askedAt = performance.now()
    const next = fromRedis<NextJob<TakenFields>>(await super.moveToActive(token))
    if (next[0] !== null) Object.assign(next[0], { askedAt }, this.#unbegun.delete(next[1]) && { isUnbegun: true })
    return next
  }

  #taking (): [number, number, string] {
    const { opts } = this.queue
    return [this.now(), lockMs, 'name' in opts && typeof opts.name === 'string' ? opts.name : '']
  }

  #shared (types: readonly string[], args: ScriptCall['args']): ScriptCall {
    return { keys: types.map(type => this.toKey(type)), args: [this.toKey(''), ...args] }
  }

  /** What the script that adds jobs gets in all calls. */
  #addsShared (): ScriptCall {
    const { keys, args } = this.#shared(addPlainKeys, [])
    return { keys: [...keys, createdKey(publicName(this.name))], args }
  }

  /** @throws BullMQ's error for a number that its script answers. */
  #ended (job: MinimalJob, [reply, dependents]: EndReply, askedAt: number): Ended {
    if (typeof reply === 'number' && reply < 0) throw this.finishedErrors({ code: reply, jobId: idOf(job), command: 'moveToFinished', state: 'active' })
    return { next: this.#nextJob(reply, askedAt), dependents }
  }

  /** BullMQ's words for a job that a script has taken; `askedAt`: see `TakenFields`. */
  #nextJob (reply: unknown, askedAt: number): NextJob<TakenFields> {
    const next = fromRedis<NextJob<TakenFields>>(this.inLocalTime(bullmq.raw2NextJobData(fromRedis(reply))))
    Object.assign(next[0] ?? {}, { askedAt }, isUnbegun(reply) && { isUnbegun: true })
    return next
  }

  async #finish (job: MinimalJob & SettlementNotes, part: Pick<End, 'token' | 'sign' | 'text' | 'stack' | 'fetchNext'>, fields?: Record<string, unknown>): Promise<{ result: unknown[] | undefined, finishedOn: number }> {
    const id = idOf(job)
    const { token, sign, text, fetchNext } = part
    const { replyTo } = fromRedis<JobData>(job.data)
    const awaited = replyTo ?? ''
    const runs = this.runs.isUnbegun(job) ? job.attemptsMade + 1 : ''
    const at = job[endedAt] ??= this.now()
    const [field, target] = sign === '+' ? ['returnvalue', 'completed'] as const : ['failedReason', 'failed'] as const
    const { next, dependents } = await this.#settle({
      job,
      at,
      awaited,
      runs,
      ...part,
      call: () => jobScripts.moveToFinished.call(
        this.moveToFinishedArgs(job, text, field, this.#keep, target, token, at, fetchNext, fields),
        [this.toKey(id)],
        [this.toKey(''), id, at, sign, text, jobChannel(id), awaited === '' ? '' : replyChannel(awaited), runs]
      )
    })
    if (dependents === 0) job[hasNoDependents] = true
    return { result: next, finishedOn: at }
  }
}

/** Whether a script has taken a job whose run has not begun. A hash, as Redis tells it, has names and values in turn. */
function isUnbegun (reply: unknown): boolean {
  const fields = Array.isArray(reply) ? reply[0] as unknown : undefined
  return Array.isArray(fields) && fields.includes(unbegunField) && fields.some((text, place) => text === unbegunField && place % 2 === 0)
}
