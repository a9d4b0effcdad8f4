import type { Job } from 'bullmq'
import { BatchedScript, eachCall, goOnWhenFull, type ScriptCall, type Redis, idOf } from '@toolyard/store'
import type { Beginnings } from './beginnings.ts'
import { unbegunField } from './scripts/job-scripts.ts'

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

/** In the job itself, since a WeakSet of short-lived objects costs the garbage collector a lot. */
const unbegun = Symbol('unbegun')

/** What a job that was taken says of its runs. */
export type CountedJob = Pick<Job, 'id' | 'attemptsStarted' | 'attemptsMade'> & { [unbegun]?: boolean }

export interface JobRunsParts {
  redis: Redis
  keyOf: (id: string) => string
  /** Redis' time, in milliseconds since 1970. */
  now: () => number
  beginnings: Beginnings
}

/** Keeps account of which jobs of one queue were run: a worker that takes a job may be gone before it begins. */
export class JobRuns {
  readonly #parts: JobRunsParts

  constructor (parts: JobRunsParts) {
    this.#parts = parts
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
    return noteBegun(job, await this.#parts.beginnings.note(this.#callOf(idOf(job), token)))
  }

  /**
   * The same as `begin` for a job that may run only once, and is not to run when a failover could make that unknown.
   *
   * @throws ReplicasMissingError
   */
  async beginOnce (job: CountedJob, token: string): Promise<boolean> {
    const { beginnings } = this.#parts
    if (!this.isUnbegun(job) && !beginnings.areReplicated) return true
    return noteBegun(job, await beginnings.noteSafely(this.#callOf(idOf(job), token)))
  }

  /**
   * A job that is given back counts as not taken, if it is still the holder's of this token.
   *
   * @returns how often it was given back
   */
  async uncount (job: CountedJob, token: string): Promise<number> {
    const { redis, keyOf } = this.#parts
    const [reply] = await uncountScript.run(redis, [{ keys: [keyOf(idOf(job))], args: [token, job.attemptsStarted - 1, this.isUnbegun(job) ? '1' : ''] }])
    if (reply instanceof Error) throw reply
    return Number(reply)
  }

  /** A job that is about to end without a run counts as not taken. */
  async endUnrun (job: CountedJob, token: string): Promise<void> {
    await this.uncount(job, token)
    // Else its end would count the run that it never had.
    job[unbegun] = false
  }

  #callOf (id: string, token: string): ScriptCall {
    return { keys: [this.#parts.keyOf(id)], args: [token, this.#parts.now()] }
  }
}

function noteBegun (job: CountedJob, isHeld: boolean): boolean {
  if (!isHeld) return false
  if (job[unbegun] === true) job.attemptsStarted = job.attemptsMade + 1
  job[unbegun] = false
  return true
}
