import type { Job } from 'bullmq'
import { asError } from '@toolyard/contract/terms'
import type { ScriptRun } from '../redis/commands/batched-script.ts'
import type { Redis } from '../redis/connection.ts'
import { ReplicasMissingError, type Replicas } from '../redis/checks/replicas.ts'
import { beginScript, uncountScript } from './scripts/job-scripts.ts'
import { idOf } from '../record/job-id.ts'

/** In the job itself, since a WeakSet of short-lived objects costs the garbage collector a lot. */
const unbegun = Symbol('unbegun')

/** What a job that was taken says of its runs. */
export type CountedJob = Pick<Job, 'id' | 'attemptsStarted' | 'attemptsMade'> & { [unbegun]?: boolean }

/** What `JobRuns` works with. */
export interface JobRunsParts {
  redis: Redis
  keyOf: (id: string) => string
  /** Redis' time, in milliseconds since 1970. */
  now: () => number
  /** Those that must know of the beginning of a job that may run only once; undefined: none. */
  replicas: Replicas | undefined
}

/** Keeps account of which jobs of one queue were run: a worker that takes a job may be gone before it begins. */
export class JobRuns {
  readonly #parts: JobRunsParts

  constructor (parts: JobRunsParts) {
    this.#parts = parts
  }

  /** Notes that the run of a job has not begun, should nobody hear that it was taken: see `begin`. */
  noteUnbegun (job: CountedJob): void {
    job[unbegun] = true
  }

  /** Whether a job may never have been run by those for whom it was taken. */
  isUnbegun (job: object & { [unbegun]?: boolean }): boolean {
    return job[unbegun] === true
  }

  /** From now on the job counts as run; false when it is somebody else's by now. */
  async begin (job: CountedJob, token: string): Promise<boolean> {
    const { script, calls } = this.#beginning(job, token)
    const [reply] = await script.run(this.#parts.redis, calls)
    return noteBegun(job, reply)
  }

  /**
   * The same as `begin` for a job that may run only once, and is not to run when a failover could make that unknown.
   *
   * @throws ReplicasMissingError
   */
  async beginOnce (job: CountedJob, token: string): Promise<boolean> {
    const { replicas } = this.#parts
    if (replicas === undefined || replicas.needed === 0) return !this.isUnbegun(job) || await this.begin(job, token)
    const [replies] = await replicas.run([this.#beginning(job, token)]).catch((error: unknown) => {
      throw error instanceof ReplicasMissingError ? error : new ReplicasMissingError(asError(error).message)
    })
    return noteBegun(job, replies?.[0])
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

  #beginning (job: CountedJob, token: string): ScriptRun {
    const { keyOf, now } = this.#parts
    return { script: beginScript, calls: [{ keys: [keyOf(idOf(job))], args: [token, now()] }] }
  }
}

/** What `beginScript` has answered; true where the job is still its worker's. */
function noteBegun (job: CountedJob, reply: unknown): boolean {
  if (reply instanceof Error) throw reply
  if (reply !== 1) return false
  if (job[unbegun] === true) job.attemptsStarted = job.attemptsMade + 1
  job[unbegun] = false
  return true
}
