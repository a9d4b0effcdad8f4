import type { JobData } from '@toolyard/contract'
import type { Redis as Server } from 'ioredis'
import type { JobJson, KeepJobs, MinimalJob, ParentKeyOpts, QueueBaseOptions } from 'bullmq'
import { BatchedScript, type ScriptCall } from './batched-script.ts'
import { bullmq, bullmqScript } from './bullmq.ts'
import type { Redis } from './connection.ts'
import { createdKey, jobChannel, keyPrefix, publicName, replyChannel } from './names.ts'
import { keepJobs, type Retention } from './retention.ts'

/** A job that is about to be added. */
export interface AddedJob {
  id: string
  job: JobJson
  /** What the index of the queue gets: see `JobIndex`. */
  entry: string
  parent: ParentKeyOpts
}

/** BullMQ's scripts that add a job, each with its number of keys; behind these come the index, and its entry. */
const added = {
  addPrioritizedJob: 9,
  addDelayedJob: 6,
  addParentJob: 6
} as const
type Adding = keyof typeof added

const addScripts = new Map(Object.entries(added).map(([name, keys]) => [name, new BatchedScript(name, bullmqScript(name, keys), {
  // Before the job: one that is in no list would never be found.
  each: `
redis.call('ZADD', KEYS[${keys + 1}], 0, ARGV[4])
return script(KEYS, ARGV)
`
})]))

/**
 * BullMQ's marker says that there may be a job, and wakes one worker. Taking a job sets it anew, for the next worker:
 * where no other job is left, that one, and this one when it is done, would ask Redis in vain.
 */
const restWhenEmpty = (marker: number): string => `
if redis.call('ZCARD', KEYS[3]) == 0 and redis.call('LLEN', KEYS[1]) == 0 and redis.call('ZCARD', KEYS[7]) == 0 then
  redis.call('ZREM', KEYS[${marker}], '0')
end
`

const takeKeys = 11
const takeScript = new BatchedScript('take', bullmqScript('moveToActive', takeKeys), {
  each: `
local reply = script(KEYS, ARGV)
if type(reply[1]) == 'table' then ${restWhenEmpty(11)} end
return reply
`
})

const finishKeys = 14
/**
 * ARGV, behind BullMQ's: the channel of those who watch the job; that of the API process that waits for it, or nothing.
 * Both hear of the end right here, those who wait what the record says: nobody need wait until the worker knows. A job
 * that is found to have ended is told all the same: the connection broke, and the command was sent again.
 */
const finishScript = new BatchedScript('finish', bullmqScript('moveToFinished', finishKeys), {
  before: 'local heard = {}',
  each: `
local id, reply = ARGV[1], script(KEYS, ARGV)
local sign, text = ARGV[5] == 'completed' and '+' or '-', ARGV[4]
if type(reply) == 'number' and reply < 0 then
  local record = redis.call('HMGET', KEYS[12], 'finishedOn', 'returnvalue', 'failedReason')
  if not record[1] then return {reply} end
  sign, text = record[2] and '+' or '-', record[2] or record[3] or ''
end
if ARGV[6] == '1' then ${restWhenEmpty(14)} end
redis.call('PUBLISH', ARGV[10], 'job')
local awaited = ARGV[11]
if awaited ~= '' then
  if not heard[awaited] then heard[awaited] = {} end
  table.insert(heard[awaited], id .. sign .. string.gsub(text, '\\n', ' '))
end
return {reply, redis.call('EXISTS', KEYS[12] .. ':dependents')}
`,
  after: "for channel, ends in pairs(heard) do redis.call('PUBLISH', channel, table.concat(ends, '\\n')) end"
})

/** BullMQ's reply; and 1 where other jobs depend on this one, 0 where none does. */
type FinishAnswer = [reply: unknown, dependents?: 0 | 1]

interface Ending extends ScriptCall {
  resolve: (answer: FinishAnswer) => void
  reject: (error: unknown) => void
}

/**
 * BullMQ's access to the jobs of one queue, for many jobs at once: those of a request are added with one command, and
 * those that end in one turn of the event loop are settled with one. The scripts are BullMQ's own, as is all that they
 * leave in Redis.
 */
export class JobBackend extends bullmq.RedisQueueBackend {
  readonly #redis: Redis
  readonly #keep: KeepJobs
  readonly #alone = new WeakSet<MinimalJob>()
  #ending: Ending[] = []

  constructor (redis: Redis, retention: Retention, ...rest: ConstructorParameters<typeof bullmq.RedisQueueBackend>) {
    super(...rest)
    this.#redis = redis
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
      const keys = added[name]
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

  override execCommand (client: unknown, name: string, args: Array<string | number | Buffer>): unknown {
    return name === 'moveToActive' ? this.#take(args) : super.execCommand(client as never, name, args)
  }

  async #take (args: Array<string | number | Buffer>): Promise<unknown> {
    const [reply] = await takeScript.run(this.#redis, [{ keys: args.slice(0, takeKeys) as string[], args: args.slice(takeKeys) }])
    if (reply instanceof Error) throw reply
    return reply
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
      args: [...own.map(arg => arg ?? ''), jobChannel(id), replyTo === undefined ? '' : replyChannel(replyTo)]
    }
    const [reply, dependents] = await new Promise<FinishAnswer>((resolve, reject) => {
      this.#ending.push({ ...call, resolve, reject })
      if (this.#ending.length === 1) process.nextTick(() => { void this.#settle() })
    })
    if (dependents === 0) this.#alone.add(job)
    if (typeof reply === 'number' && reply < 0) throw this.finishedErrors({ code: reply, jobId: id, command: 'moveToFinished', state: 'active' })
    return { result: bullmq.raw2NextJobData(reply as never), finishedOn: Number(own[1]) }
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

/** Makes the backends of BullMQ's queues and workers on an open connection. */
export function backendOn (redis: Redis, retention: Retention): (name: string, options: QueueBaseOptions, blocking?: { withBlockingConnection?: boolean }) => JobBackend {
  return (name, options, { withBlockingConnection = false } = {}) => {
    const client = bullmq.createIORedisClient(redis as Server)
    const connection = new bullmq.RedisConnection(client, { shared: true, skipVersionCheck: true })
    const blocking = withBlockingConnection ? new bullmq.RedisConnection(client.duplicate({ connectionName: `${keyPrefix}:${Buffer.from(name).toString('base64')}` }), { blocking: true, skipVersionCheck: true }) : undefined
    const keys = new bullmq.QueueKeys(keyPrefix)
    return new JobBackend(redis, retention, connection, name, keys.getKeys(name), type => keys.toKey(name, type), options, blocking)
  }
}
