import type { Job } from 'bullmq'
import { asError } from '@toolyard/contract/terms'
import { BatchedScript, eachCall, goOnWhenFull, type ScriptCall, type Redis, ReplicasMissingError, type Replicas, idOf, serverTime } from '@toolyard/store'
import { unbegunField } from './scripts/job-scripts.ts'

/**
 * ARGV: the token of who runs the job, and the time. Answers whether they hold it. Those who took it before didn't run
 * it, and don't count; one that is just being given back stays uncounted. It always writes: a connection can then wait until
 * replicas have it.
 */
const beginScript = new BatchedScript('begin', eachCall(`
if redis.call('GET', KEYS[1] .. ':lock') ~= ARGV[1] then return 0 end
local isFirst = redis.call('HDEL', KEYS[1], '${unbegunField}') == 1
redis.call('HSET', KEYS[1], 'processedOn', ARGV[2])
if isFirst then
  local runs = redis.call('HMGET', KEYS[1], 'ats', 'atm')
  local begun = tonumber(runs[2] or '0') + 1
  if tonumber(runs[1]) > begun then redis.call('HSET', KEYS[1], 'ats', begun) end
end
return 1
`))

/**
 * ARGV: the token of who gives the job back; how often it counts as run then; 1 where that is said of a job that has not
 * begun. Should it have done so meanwhile, those who took it before don't count. Answers how often it was given back so.
 */
const uncountScript = new BatchedScript('uncount', eachCall(`
if redis.call('GET', KEYS[1] .. ':lock') ~= ARGV[1] then return 0 end
${goOnWhenFull('KEYS[1]')}
local runs = ARGV[2]
if ARGV[3] == '1' and redis.call('HEXISTS', KEYS[1], '${unbegunField}') == 0 then runs = redis.call('HGET', KEYS[1], 'atm') or '0' end
redis.call('HSET', KEYS[1], 'ats', runs)
return redis.call('HINCRBY', KEYS[1], 'givenBack', 1)
`))

/** Beginnings that one command notes, and one `WAIT` waits for. */
const mostCalls = 50

/** In the job itself, since a WeakSet of short-lived objects costs the garbage collector a lot. */
const unbegun = Symbol('unbegun')

/** A taken job's own count of its runs. */
type CountedJob = Pick<Job, 'id' | 'attemptsStarted' | 'attemptsMade'> & { [unbegun]?: boolean }

interface Beginning {
  call: ScriptCall
  resolve: (reply: unknown) => void
  reject: (error: unknown) => void
}

/** Keeps account of which jobs of one queue were run: a worker that takes a job may be gone before it begins. */
export class JobRuns {
  readonly #redis: Redis
  readonly #keyOf: (id: string) => string
  readonly #replicas: Replicas | undefined
  /** Those that wait until they are sent to replicas. */
  #waiting: Beginning[] = []
  #isSending = false

  constructor (redis: Redis, keyOf: (id: string) => string, replicas: Replicas | undefined) {
    this.#redis = redis
    this.#keyOf = keyOf
    this.#replicas = replicas
  }

  /** Marks a job that was taken as not begun. Its worker may never get the answer, so the job counts as not run until `begin`. */
  noteUnbegun (job: CountedJob): void {
    job[unbegun] = true
  }

  /** Whether no worker has noted yet that it began to run this job. */
  isUnbegun (job: object & { [unbegun]?: boolean }): boolean {
    return job[unbegun] === true
  }

  /** From now on the job counts as run; false when it is somebody else's by now. */
  async begin (job: CountedJob, token: string): Promise<boolean> {
    const [reply] = await beginScript.run(this.#redis, [this.#callOf(job, token)])
    return noteBegun(job, reply)
  }

  /**
   * The same as `begin` for a job that may run only once, and is not to run when a failover could make that unknown: it waits
   * until as many replicas as needed have the note. Notes that come while others are on their way are sent together.
   *
   * @throws ReplicasMissingError
   */
  async beginOnce (job: CountedJob, token: string): Promise<boolean> {
    const replicas = this.#replicas
    if (replicas === undefined || replicas.needed === 0) return !this.isUnbegun(job) || await this.begin(job, token)
    return noteBegun(job, await new Promise((resolve, reject) => {
      this.#waiting.push({ call: this.#callOf(job, token), resolve, reject })
      if (this.#isSending) return
      this.#isSending = true
      process.nextTick(() => { void this.#sendAll(replicas) })
    }))
  }

  /**
   * A job that is given back counts as not taken, if it is still the holder's of this token.
   *
   * @returns how often it was given back
   */
  async uncount (job: CountedJob, token: string): Promise<number> {
    const args = [token, job.attemptsStarted - 1, this.isUnbegun(job) ? '1' : '']
    const [reply] = await uncountScript.run(this.#redis, [{ keys: [this.#keyOf(idOf(job))], args }])
    if (reply instanceof Error) throw reply
    return Number(reply)
  }

  /** A job that is about to end without a run counts as not taken. */
  async endUnrun (job: CountedJob, token: string): Promise<void> {
    await this.uncount(job, token)
    // Else its end would count the run that it never had.
    job[unbegun] = false
  }

  #callOf (job: CountedJob, token: string): ScriptCall {
    return { keys: [this.#keyOf(idOf(job))], args: [token, serverTime(this.#redis)] }
  }

  async #sendAll (replicas: Replicas): Promise<void> {
    while (this.#waiting.length > 0) {
      const sent = this.#waiting.splice(0, mostCalls)
      try {
        const [replies] = await replicas.run([{ script: beginScript, calls: sent.map(({ call }) => call) }])
        for (const [place, { resolve }] of sent.entries()) resolve(replies?.[place])
      } catch (error) {
        const missing = error instanceof ReplicasMissingError ? error : new ReplicasMissingError(asError(error).message)
        for (const { reject } of sent) reject(missing)
      }
    }
    this.#isSending = false
  }
}

/** Whether the job is still its worker's, by the script's reply. */
function noteBegun (job: CountedJob, reply: unknown): boolean {
  if (reply instanceof Error) throw reply
  if (reply !== 1) return false
  if (job[unbegun] === true) job.attemptsStarted = job.attemptsMade + 1
  job[unbegun] = false
  return true
}
