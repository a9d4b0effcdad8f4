import type { JobData, JobDependency } from '@toolyard/contract'
import type { Job } from 'bullmq'
import { alarmsKey, jobKey, jobPartKey, placeOfKey, goOnWhenFull, idOf, queueKey } from '@toolyard/store'
import { failed, left, type Outcome, type Repeat } from '../backend/job-worker.ts'
import { cancelled } from '../record/cancellation.ts'
import { encodeFailure } from '../record/settlement.ts'
import { dependencyError, examineDependencies, leaveDependencies, releaseDependents, waitForDependencies } from '../queues/dependencies.ts'
import { release, settledSteps, type FlowParts } from '../queues/release.ts'
import { beganField } from '../record/job-times.ts'

/** After so long a job that was taken too early is looked at again, in milliseconds, where its worker dies while it parks it. */
const parkMs = 10_000

/** How long a job waits for the jobs that it has made. */
export interface StepWait {
  /** Until one of them settles, or until this time of Redis, in milliseconds since 1970. */
  until: number
  /** How many of them had settled when it was decided to wait. */
  settled: number
}

/**
 * Notes what a job waits for, if this worker still has its lock, and when it began; a parked job counts as not started. KEYS: job,
 * lock, alarms. ARGV: id, token, settled, until.
 */
const parkScript = `
if redis.call('GET', KEYS[2]) ~= ARGV[2] then return 0 end
${goOnWhenFull('KEYS[1]')}
redis.call('HINCRBY', KEYS[1], 'ats', -1)
redis.call('HSETNX', KEYS[1], '${beganField}', redis.call('HGET', KEYS[1], 'processedOn') or '')
redis.call('HSET', KEYS[1], 'seen', ARGV[3])
return redis.call('ZADD', KEYS[3], ARGV[4], ARGV[1])
`

/** Parks a delayed job until the jobs that it depends on have ended. KEYS: job, delayed, waiting-children. ARGV: id. */
const parkAgainScript = `
if redis.call('ZREM', KEYS[2], ARGV[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'delay', 0)
return redis.call('ZADD', KEYS[3], redis.call('HGET', KEYS[1], 'timestamp'), ARGV[1])
`

/** A job that was not parked after all counts as started again. KEYS: job. */
const unparkScript = `${goOnWhenFull('KEYS[1]')}
return redis.call('HINCRBY', KEYS[1], 'ats', 1)
`

/**
 * Removes the alarm of a job that has ended: where a person was asked, it may be a day away. One that was run again since may have
 * set another. KEYS: job, alarms. ARGV: id.
 */
const forgetAlarmScript = `
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], 'finishedOn') == 0 then return 0 end
return redis.call('ZREM', KEYS[2], ARGV[1])
`

/** Effects of the jobs of one flow on each other, as the worker of one queue sees them. */
export class JobFlow {
  readonly #parts: FlowParts
  readonly #queue: string

  constructor (parts: FlowParts, queue: string) {
    this.#parts = parts
    this.#queue = queue
  }

  /**
   * Lets a job through that a worker has taken.
   *
   * @param park parks the job for so many milliseconds
   * @returns what becomes of one that can't run any more, or was parked again.
   */
  async admit (job: Job<JobData>, park: (ms: number) => Promise<void>): Promise<Outcome<never> | undefined> {
    const { redis } = this.#parts
    if (job.parentKey !== undefined && await hasEnded(this.#parts, job.parentKey)) return failed(encodeFailure(cancelled))
    const { dependsOn } = job.data
    if (dependsOn === undefined) return undefined
    const { pending, broken } = await examineDependencies(redis, this.#queue, idOf(job), dependsOn)
    if (broken.length > 0) return failed(encodeFailure(dependencyError(broken)))
    if (pending.length === 0) return undefined
    // It was run again, as was what it depends on.
    await park(parkMs)
    await this.#parkAgain(idOf(job), dependsOn)
    return left
  }

  async #parkAgain (id: string, dependsOn: readonly JobDependency[]): Promise<void> {
    const { redis } = this.#parts
    const keys = [jobKey(this.#queue, id), queueKey(this.#queue, 'delayed'), queueKey(this.#queue, 'waiting-children')]
    await redis.eval(parkAgainScript, keys.length, ...keys, id)
    await waitForDependencies(this.#parts, { queue: this.#queue, id }, dependsOn)
  }

  /**
   * Parks a job that waits for the jobs that it has made: it takes no slot of a worker.
   *
   * @returns whether it is parked: not so when none of them is pending any more.
   */
  async park ({ job, token, repeat }: { job: Job, token: string, repeat: Repeat }, { until, settled }: StepWait): Promise<boolean> {
    const { redis } = this.#parts
    const id = idOf(job)
    const key = jobKey(this.#queue, id)
    const keys = [key, jobPartKey(this.#queue, id, 'lock'), alarmsKey(this.#queue)]
    await repeat(() => redis.eval(parkScript, keys.length, ...keys, id, token, settled, until))
    if (!await repeat(() => job.moveToWaitingChildren(token))) {
      await repeat(() => redis.eval(unparkScript, 1, key))
      return false
    }
    // A job that was settled in between found no parked parent.
    if (await repeat(() => settledSteps(redis, this.#queue, id)) !== settled) await repeat(() => release(this.#parts, this.#queue, id))
    return true
  }

  /**
   * A job has been settled: those that wait for it go on. BullMQ releases a parent only after the last of its children.
   *
   * @param hasDependents false when it is known that no job depends on it.
   */
  async settled (job: Job<JobData>, hasDependents = true): Promise<void> {
    if (hasDependents) await releaseDependents(this.#parts, this.#queue, idOf(job))
    if (job.data.dependsOn !== undefined) {
      await leaveDependencies(this.#parts.redis, { queue: this.#queue, id: idOf(job) }, job.data.dependsOn)
    }
    if (job.data.access !== undefined) await this.#forgetAlarm(idOf(job))
    if (job.parentKey === undefined) return
    const parent = placeOfKey(job.parentKey)
    await release(this.#parts, parent.queue, parent.id)
  }

  async #forgetAlarm (id: string): Promise<void> {
    await this.#parts.redis.eval(forgetAlarmScript, 2, jobKey(this.#queue, id), alarmsKey(this.#queue), id)
  }
}

/** Whether the job that a step belongs to has ended, or is gone. */
export async function hasEnded ({ redis }: Pick<FlowParts, 'redis'>, parentKey: string): Promise<boolean> {
  const [timestamp, finishedOn] = await redis.hmget(parentKey, 'timestamp', 'finishedOn')
  return timestamp === null || timestamp === undefined || (finishedOn !== null && finishedOn !== undefined)
}
