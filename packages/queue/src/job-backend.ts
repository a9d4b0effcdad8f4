import type { JobData } from '@toolyard/contract'
import type { Redis as Server } from 'ioredis'
import type { Job, JobJson, KeepJobs, MinimalJob, ParentKeyOpts, QueueBaseOptions, RedisConnection } from 'bullmq'
import type { ScriptCall } from './batched-script.ts'
import { bullmq, ioredis } from './bullmq.ts'
import type { Redis } from './connection.ts'
import { addKeys, addScripts, beginScript, finishKeys, finishScript, takeKeys, takeScript, unbegunField, uncountScript, type Adding } from './job-scripts.ts'
import { lockMs } from './lock.ts'
import { createdKey, jobChannel, keyPrefix, publicName, replyChannel } from './names.ts'
import { keepJobs, type Retention } from './retention.ts'
import { WaitingTake, type Taken } from './waiting-take.ts'

/** A job that is about to be added. */
export interface AddedJob {
  id: string
  job: JobJson
  /** What the index of the queue gets: see `JobIndex`. */
  entry: string
  parent: ParentKeyOpts
}

/** BullMQ's reply; and 1 where other jobs depend on this one, 0 where none does. */
type FinishAnswer = [reply: unknown, dependents?: 0 | 1]

/** The fields of a job that was taken. */
export interface TakenFields extends JobJson {
  /** Those for whom it was taken may never have run it: see `JobBackend.begin`. */
  isUnbegun?: boolean
}

/** What a job that was taken says of its runs. */
export type UnbegunJob = Pick<Job, 'id' | 'attemptsStarted' | 'attemptsMade'>

/** BullMQ's answer to what took the next job: its fields, if there was one, its id, and when to ask again. */
type NextJob = [fields: TakenFields | null, id: string, limitMs: number, delayUntil: number]

/** How long a worker waits at most, in seconds, before it waits anew, where its wait takes a job. */
const waitSec = 2
/** A job that was taken less than so many milliseconds ago is still held. */
const heldMs = lockMs - 500

interface Ending extends ScriptCall {
  resolve: (answer: FinishAnswer) => void
  reject: (error: unknown) => void
}

/**
 * BullMQ's access to the jobs of one queue, for many jobs at once: those of a request are added with one command, and
 * those that end in one turn of the event loop are settled with one. The scripts are BullMQ's own, as is all that they
 * leave in Redis, but for the stream of events, which nobody here reads.
 */
export class JobBackend extends bullmq.RedisQueueBackend {
  readonly #redis: Redis
  readonly #keep: KeepJobs
  readonly #alone = new WeakSet<MinimalJob>()
  readonly #unbegun = new WeakSet<object>()
  readonly #waiting: WaitingTake | undefined
  #ending: Ending[] = []

  constructor (redis: Redis, waiting: WaitingTake | undefined, retention: Retention, ...rest: ConstructorParameters<typeof bullmq.RedisQueueBackend>) {
    super(...rest)
    this.#redis = redis
    this.#waiting = waiting
    this.#keep = keepJobs(retention)
  }

  /** Whether other jobs may wait for a job that was settled here. */
  mayHaveDependents (job: MinimalJob): boolean {
    return !this.#alone.has(job)
  }

  /**
   * Adds jobs; one whose id exists is left as it is.
   *
   * @returns the errors of those that were refused, by id
   */
  async addAll (jobs: readonly AddedJob[]): Promise<Map<string, Error>> {
    const calls = new Map<string, Array<ScriptCall & { id: string }>>()
    for (const { id, job, entry, parent } of jobs) {
      const { name, args } = await this.#commandOf(job, id, parent)
      const keys = addKeys[name]
      const own = calls.get(name) ?? []
      calls.set(name, own)
      own.push({ id, keys: [...args.slice(0, keys) as string[], createdKey(publicName(this.name))], args: [...args.slice(keys), entry] })
    }
    const refused = new Map<string, Error>()
    await Promise.all([...calls].map(async ([name, own]) => {
      const replies = await addScripts.get(name)?.run(this.#redis, own) ?? []
      for (const [place, reply] of replies.entries()) {
        const id = own[place]?.id ?? ''
        if (reply instanceof Error) refused.set(id, reply)
        else if (typeof reply === 'number' && reply < 0) refused.set(id, this.finishedErrors({ code: reply, jobId: id, command: 'addJob' }))
      }
    }))
    return refused
  }

  override async moveToCompleted (job: MinimalJob, value: unknown, _keep: unknown, token: string, fetchNext: boolean): Promise<{ result: unknown[] | undefined, finishedOn: number }> {
    return await this.#finish(job, this.moveToCompletedArgs(job, JSON.stringify(value), this.#keep, token, fetchNext))
  }

  override async moveToFailed (job: MinimalJob, reason: string, _keep: unknown, token: string, fetchNext: boolean, fields?: Record<string, unknown>): Promise<{ result: unknown[] | undefined, finishedOn: number }> {
    return await this.#finish(job, this.moveToFailedArgs(job, reason, this.#keep, token, fetchNext, fields))
  }

  /** In seconds: who stands still while it waits must not hold a job longer than its lock. */
  override get maximumBlockTimeout (): number {
    return this.#waiting === undefined ? super.maximumBlockTimeout : waitSec
  }

  /** The worker's next wait takes a job with this token. */
  waitAs (token: string): void {
    this.#waiting?.prepare(token, this.#takeCall(token, { waits: true }))
  }

  override async moveToActive (token: string): Promise<NextJob> {
    const taken = this.#waiting?.taken(token)
    if (taken !== undefined) return await this.#passOn(taken, token)
    const [reply] = await takeScript.run(this.#redis, [this.#takeCall(token)])
    if (reply instanceof Error) throw reply
    return nextJob(reply)
  }

  /** Notes that a job was taken for a worker that waited, which nobody knows to be there: see `begin`. */
  noteUnbegun (job: UnbegunJob): void {
    this.#unbegun.add(job)
  }

  /** Whether a job may never have been run by those for whom it was taken. */
  isUnbegun (job: UnbegunJob): boolean {
    return this.#unbegun.has(job)
  }

  /** From now on the job counts as run; false when it is somebody else's by now. */
  async begin (job: UnbegunJob, token: string): Promise<boolean> {
    if (!await this.#begin(job.id ?? '', token)) return false
    if (this.#unbegun.delete(job)) job.attemptsStarted = job.attemptsMade + 1
    return true
  }

  /** A job that is given back counts as not taken, if it is still the holder's of this token. */
  async uncount (job: UnbegunJob, token: string): Promise<void> {
    const [reply] = await uncountScript.run(this.#redis, [{ keys: [this.toKey(job.id ?? '')], args: [token, job.attemptsStarted - 1, this.#unbegun.has(job) ? '1' : ''] }])
    if (reply instanceof Error) throw reply
  }

  /** What was taken long ago may be another worker's by now. */
  async #passOn ({ reply, ageMs }: Taken, token: string): Promise<NextJob> {
    const next = nextJob(reply)
    const [fields, id] = next
    if (fields === null) return next
    fields.processedOn = Date.now()
    if (ageMs < heldMs) return next
    if (!await this.#begin(id, token)) return nextJob([0, 0, 0, 0])
    if (fields.isUnbegun === true) Object.assign(fields, { isUnbegun: false, attemptsStarted: Number(fields.attemptsMade) + 1 })
    return next
  }

  async #begin (id: string, token: string): Promise<boolean> {
    const [reply] = await beginScript.run(this.#redis, [{ keys: [this.toKey(id)], args: [token, Date.now()] }])
    if (reply instanceof Error) throw reply
    return reply === 1
  }

  #takeCall (token: string, { waits = false } = {}): ScriptCall {
    return { keys: takeKeys.map(type => this.keys[type] ?? ''), args: [this.toKey(''), Date.now(), token, lockMs, waits ? '1' : ''] }
  }

  /** What BullMQ would send. */
  async #commandOf (job: JobJson, id: string, parent: ParentKeyOpts): Promise<{ name: Adding, args: Array<string | Buffer> }> {
    let command: { name: string, args: Array<string | Buffer> } | undefined
    const listening = { runCommand: (name: string, args: Array<string | Buffer>) => { command = { name, args } } }
    await this.addJobToTransaction(listening as never, job, id, parent)
    const name = command?.name.split(':')[0] ?? ''
    if (command === undefined || !addScripts.has(name)) throw new Error(`BullMQ adds a job with '${name}'`)
    return { name: name as Adding, args: command.args }
  }

  async #finish (job: MinimalJob, args: ReadonlyArray<string | number | boolean | Buffer>): Promise<{ result: unknown[] | undefined, finishedOn: number }> {
    const id = job.id ?? ''
    const { replyTo } = job.data as JobData
    const own = args.slice(finishKeys) as Array<string | number | Buffer | undefined>
    const call = {
      keys: args.slice(0, finishKeys) as string[],
      args: [...own.map(arg => arg ?? ''), jobChannel(id), replyTo === undefined ? '' : replyChannel(replyTo), this.#unbegun.has(job) ? job.attemptsMade + 1 : '']
    }
    const [reply, dependents] = await new Promise<FinishAnswer>((resolve, reject) => {
      this.#ending.push({ ...call, resolve, reject })
      if (this.#ending.length === 1) process.nextTick(() => { void this.#settle() })
    })
    if (dependents === 0) this.#alone.add(job)
    if (typeof reply === 'number' && reply < 0) throw this.finishedErrors({ code: reply, jobId: id, command: 'moveToFinished', state: 'active' })
    return { result: nextJob(reply), finishedOn: Number(own[1]) }
  }

  async #settle (): Promise<void> {
    const ending = this.#ending
    this.#ending = []
    try {
      const replies = await finishScript.run(this.#redis, ending)
      for (const [place, { resolve, reject }] of ending.entries()) {
        const reply = replies[place]
        if (Array.isArray(reply)) resolve(reply as FinishAnswer)
        else reject(reply)
      }
    } catch (error) {
      for (const { reject } of ending) reject(error)
    }
  }
}

function nextJob (reply: unknown): NextJob {
  const next = bullmq.raw2NextJobData(reply as never) as NextJob
  const fields = Array.isArray(reply) ? reply[0] as unknown : undefined
  if (Array.isArray(fields) && isAmong(fields, unbegunField)) Object.assign(next[0] ?? {}, { isUnbegun: true })
  return next
}

/** Whether a hash, as Redis tells it, has a field: names and values come in turn. */
function isAmong (pairs: readonly unknown[], name: string): boolean {
  return pairs.includes(name) && pairs.some((text, place) => text === name && place % 2 === 0)
}

/** Makes the backends of BullMQ's queues and workers on an open connection. */
export function backendOn (redis: Redis, retention: Retention): (name: string, options: QueueBaseOptions, blocking?: { withBlockingConnection?: boolean }) => JobBackend {
  return (name, options, { withBlockingConnection = false } = {}) => {
    const client = bullmq.createIORedisClient(redis as Server)
    const connection = new bullmq.RedisConnection(client, { shared: true, skipVersionCheck: true })
    const keys = new bullmq.QueueKeys(keyPrefix)
    const backendWith = (waiting?: WaitingTake, blocking?: RedisConnection): JobBackend => (
      new JobBackend(redis, waiting, retention, connection, name, keys.getKeys(name), type => keys.toKey(name, type), options, blocking)
    )
    if (!withBlockingConnection) return backendWith()
    const blockingClient = client.duplicate({ connectionName: `${keyPrefix}:${Buffer.from(name).toString('base64')}` })
    const waitingWith = (waiting?: WaitingTake): JobBackend => backendWith(waiting, new bullmq.RedisConnection(blockingClient, { blocking: true, skipVersionCheck: true }))
    // A cluster's client sends commands again by itself, each on its own: two don't stay together when a server is lost.
    if (redis instanceof ioredis.Cluster) return waitingWith()
    const waiting = new WaitingTake(blockingClient as Redis, takeScript)
    Object.assign(blockingClient, { bzpopmin: async (marker: string, timeoutSec: number) => await waiting.wait(marker, timeoutSec) })
    return waitingWith(waiting)
  }
}
