import type { JobData } from '@toolyard/contract'
import type { JobJson, MinimalJob, MoveToDelayedOpts } from 'bullmq'
import { addJobs, type AddedJob } from './add-jobs.ts'
import { GatheredCalls, type Redis, createdKey, jobChannel, publicName, replyChannel, type Replicas, type ScriptCall, idOf, fromRedis, serverTime } from '@toolyard/store'
import { bullmq } from '../record/bullmq.ts'
import { jobScripts, promoteKeys, takeKeys, unbegunField } from './scripts/job-scripts.ts'
import { addPlainKeys, addPlainScript, finishPlainKeys, finishPlainScript, takePlainKeys, takePlainScript } from './scripts/plain-scripts.ts'
import { dueAtOnce, readyDueKeys, readyDueScript } from './scripts/new-turns.ts'
import { JobRuns } from './job-runs.ts'
import { lockMs } from './lock-renewal.ts'
import { runAgain, type RunAgain, type RunAgainResult } from './run-again.ts'
import { keepJobs, type Retention } from '../record/retention.ts'
import type { SharedWait } from './shared-wait.ts'
import { WakeUps } from './wake-ups.ts'

interface TakenFields extends JobJson {
  /** No worker that took this job has noted that it began to run it: see `JobRuns`. */
  isUnbegun?: boolean
}

/** The answer to what took the next job: its fields, if there was one, its id, and when to ask again, by Redis' clock. */
export type NextJob = [fields: TakenFields | null, id: string, limitMs: number, dueAt: number]

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
  /** For the wait of a worker; undefined: a connection of its own. */
  wait?: SharedWait | undefined
  /** Stands in the jobs that the worker takes; undefined: nothing does. */
  workerName?: string | undefined
  /** How long a lock lasts, and how often a job's worker may be lost; `guardMs`: so long after one look for lost jobs none is made. */
  holding?: { lockMs: number, maxLost: number, guardMs: number }
}

interface Ending {
  token: string
  sign: '+' | '-'
  /** The return value, or the reason. */
  text: string
  stack: string
  fetchNext: boolean
}

/** The reply that BullMQ's script would give, a number or the next job; and 1 where other jobs depend on this one. */
type EndReply = [reply: unknown, dependents: 0 | 1 | undefined]

/** The settler's answer where the job has ended, and BullMQ's script must be asked for the next one. */
const askBullmq = 1

/**
 * BullMQ's access to the jobs of one queue, by Redis' clock. Plain jobs have scripts of our own: one command adds all that are
 * made in one turn of the event loop, and one settles all that end in it. All others are left to BullMQ's scripts, with what
 * Toolyard promises around them. Both leave the same in Redis.
 */
export class JobBackend extends bullmq.RedisQueueBackend {
  readonly redis: Redis
  readonly runs: JobRuns
  readonly wakeUps: WakeUps
  readonly #keep: ReturnType<typeof keepJobs>
  readonly #replicas: Replicas | undefined
  readonly #wait: SharedWait | undefined
  readonly #workerName: string
  readonly #lockMs: number
  /** Adds and ends of plain jobs. */
  readonly #adds: GatheredCalls
  readonly #ends: GatheredCalls

  constructor (
    { redis, retention, replicas, wait, workerName = '', holding }: JobBackendParts,
    ...rest: ConstructorParameters<typeof bullmq.RedisQueueBackend>
  ) {
    super(...rest)
    this.redis = redis
    this.#replicas = replicas
    this.#wait = wait
    this.#workerName = workerName
    this.#lockMs = holding?.lockMs ?? lockMs
    this.runs = new JobRuns(redis, id => this.toKey(id), replicas)
    this.wakeUps = new WakeUps(redis, part => this.toKey(part))
    this.#keep = keepJobs(retention)
    const { completed, failed } = this.#keep
    this.#adds = new GatheredCalls(async calls => await addPlainScript.run(redis, calls, this.#addsShared()))
    this.#ends = new GatheredCalls(async calls => await finishPlainScript.run(redis, calls, this.#shared(finishPlainKeys, [
      ...this.#taking(), completed.age, failed.age, completed.count, completed.limit, jobChannel(''), replyChannel('')
    ])))
  }

  /** Redis' time, in milliseconds since 1970. */
  now (): number {
    return serverTime(this.redis)
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
    const queue = publicName(this.name)
    return await addJobs(this, jobs, { queue, adds: this.#adds, addsShared: this.#addsShared(), replicas: this.#replicas })
  }

  override async moveToCompleted (
    job: MinimalJob, value: unknown, _keep: unknown, token: string, fetchNext: boolean
  ): Promise<{ result: NextJob, finishedOn: number }> {
    const text = (JSON.stringify(value) as string | undefined) ?? 'null'
    return await this.#finish(job, { token, sign: '+', text, stack: '', fetchNext })
  }

  /** @param message of what was thrown; undefined where that was no error. */
  override async moveToFailed (
    job: MinimalJob, message: string | undefined, _keep: unknown, token: string, fetchNext: boolean, fields?: Record<string, unknown>
  ): Promise<{ result: NextJob, finishedOn: number }> {
    const stack = typeof fields?.['stacktrace'] === 'string' ? fields['stacktrace'] : '[]'
    return await this.#finish(job, { token, sign: '-', text: message ?? '', stack, fetchNext }, fields)
  }

  /** BullMQ's answer about the next job wouldn't say whether its run has begun: the worker asks for it. */
  override async moveToDelayed (id: string, _timestamp: number, delay: number, token?: string, options?: MoveToDelayedOpts): Promise<void> {
    await super.moveToDelayed(id, this.now(), delay, token, { ...options, fetchNext: false })
  }

  override async promote (id: string): Promise<void> {
    const keys = promoteKeys.map(part => this.toKey(part))
    const code = await this.#run('promote', [...keys, this.toKey(''), id], [], [this.toKey(''), id])
    if (typeof code === 'number' && code < 0) throw this.finishedErrors({ code, jobId: id, command: 'promote', state: 'delayed' })
  }

  /** @param only the ids of the jobs that may be put back; absent: of all. */
  override async moveStalledJobsToWait (only?: readonly string[]): Promise<string[]> {
    const keys = [this.toKey('meta'), this.toKey('stalled')]
    return fromRedis(await this.#run('moveStalledJobsToWait', this.moveStalledJobsToWaitArgs(), keys, [only === undefined ? '' : JSON.stringify(only)]))
  }

  override async moveToActive (token: string): Promise<NextJob> {
    const [reply] = await takePlainScript.run(this.redis, [{ keys: [], args: [token] }], this.#shared(takePlainKeys, this.#taking()))
    return Array.isArray(reply) ? nextJob(reply) : await this.#takeByBullmq(token)
  }

  override async waitForJob (seconds: number): ReturnType<typeof bullmq.RedisQueueBackend.prototype.waitForJob> {
    this.wakeUps.noteWait()
    return this.#wait === undefined ? await super.waitForJob(seconds) : await this.#wait.wait(this.toKey('marker'), seconds) ?? null
  }

  /** Ends the wait of a worker that closes. */
  override async disconnectBlocking (wait?: boolean): Promise<void> {
    this.#wait?.leave(this.toKey('marker'))
    await super.disconnectBlocking(wait)
  }

  /** Puts a failed job back, with all its attempts. */
  async runAgain (id: string, wish: RunAgain): Promise<RunAgainResult> {
    return await runAgain(this, { queue: publicName(this.name), id }, wish)
  }

  async #takeByBullmq (token: string): Promise<NextJob> {
    await this.#readyDue()
    const [now, ms, worker] = this.#taking()
    const theirs = takeKeys.map(part => this.toKey(part))
    return nextJob(await this.#run('moveToActive', theirs, [this.toKey('meta')], [this.toKey(''), now, token, ms, worker]))
  }

  /** Makes all due jobs ready, some at a time: Redis has time for others in between, and no due job waits behind the takes of others. */
  async #readyDue (): Promise<void> {
    const call = { keys: readyDueKeys.map(part => this.toKey(part)), args: [this.toKey(''), this.now()] }
    let [made]: unknown[] = [dueAtOnce]
    while (made === dueAtOnce) [made] = await readyDueScript.run(this.redis, [call])
  }

  /** Runs a script of BullMQ with our part of it. @throws what Redis says */
  async #run (name: keyof typeof jobScripts, ...of: Parameters<typeof jobScripts.moveToActive.call>): Promise<unknown> {
    const wrapped = jobScripts[name]
    const [reply] = await wrapped.script.run(this.redis, [wrapped.call(...of)])
    if (reply instanceof Error) throw reply
    return reply
  }

  #taking (): [now: number, lockMs: number, worker: string] {
    return [this.now(), this.#lockMs, this.#workerName]
  }

  #shared (types: readonly string[], args: ScriptCall['args']): ScriptCall {
    return { keys: types.map(type => this.toKey(type)), args: [this.toKey(''), ...args] }
  }

  /** Keys and arguments of the script that adds jobs, in all calls. */
  #addsShared (): ScriptCall {
    const { keys, args } = this.#shared(addPlainKeys, [])
    return { keys: [...keys, createdKey(publicName(this.name))], args }
  }

  async #finish (
    job: MinimalJob & SettlementNotes, ending: Ending, fields?: Record<string, unknown>
  ): Promise<{ result: NextJob, finishedOn: number }> {
    const id = idOf(job)
    const { token, sign, text, stack, fetchNext } = ending
    const awaited = fromRedis<Partial<JobData>>(job.data).replyTo ?? ''
    const runs = this.runs.isUnbegun(job) ? job.attemptsMade + 1 : ''
    const at = job[endedAt] ??= this.now()
    const takesNext = fetchNext && this.closing === undefined ? '1' : ''
    const plain = { keys: [], args: [id, token, sign, text, stack, at, takesNext, awaited, runs] }
    // No list for a job that isn't plain.
    const [settled] = job.parentKey === undefined ? await this.#ends.replies([plain]) : []
    const [field, target] = sign === '+' ? ['returnvalue', 'completed'] as const : ['failedReason', 'failed'] as const
    const [reply, dependents] = fromRedis<EndReply>(Array.isArray(settled)
      ? settled
      : await this.#run(
          'moveToFinished', this.moveToFinishedArgs(job, text, field, this.#keep[target], target, token, at, fetchNext, fields),
          [this.toKey(id)], [this.toKey(''), id, at, sign, text, jobChannel(id), awaited === '' ? '' : replyChannel(awaited), runs]
        ))
    if (typeof reply === 'number' && reply < 0) throw this.finishedErrors({ code: reply, jobId: id, command: 'moveToFinished', state: 'active' })
    if (dependents === 0) job[hasNoDependents] = true
    // The job has ended, whatever becomes of the next: another place of the worker takes it.
    return { result: reply === askBullmq ? await this.#takeByBullmq(token).catch(() => nextJob(0)) : nextJob(reply), finishedOn: at }
  }
}

/** The job that a script has taken, or none. */
function nextJob (reply: unknown): NextJob {
  const [fields, id = '', limitMs = 0, dueAt = 0] = fromRedis<NextJob | []>(bullmq.raw2NextJobData(fromRedis(reply)))
  if (fields === null || fields === undefined) return [null, '', limitMs, dueAt]
  return [isUnbegun(reply) ? { ...fields, isUnbegun: true } : fields, id, limitMs, dueAt]
}

/** Whether a script has taken a job whose run has not begun. A hash, as Redis tells it, has names and values in turn. */
function isUnbegun (reply: unknown): boolean {
  const fields = Array.isArray(reply) ? reply[0] as unknown : undefined
  return Array.isArray(fields) && fields.includes(unbegunField) && fields.some((text, place) => text === unbegunField && place % 2 === 0)
}
