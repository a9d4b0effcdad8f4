import type { Redis } from './connection.ts'
import type { JobQueues } from './job-queues.ts'
import { jobKey, serialKey } from './names.ts'

/*
 * A serial tool runs one call at a time over the whole pool, in the order of arrival (P22, X17).
 *
 * Its jobs are in one sorted set, in the order of their ids, which is that of their creation. A worker that has taken
 * one may run it when no earlier one has been taken and is unfinished, and nobody holds the tool. Otherwise it parks
 * the job: that goes back as delayed and holds no slot. Whoever ends a run wakes the next parked job. A job whose
 * worker died is taken up by another one like any job, which ends it and so frees the tool; a parked job that nobody
 * wakes, because a worker died at that very moment, wakes by itself after `parkMs`.
 *
 * States of a job: registered (added) -> taken -> parked <-> taken -> holding -> released.
 */

/** A job of a serial tool. */
export interface SerialJob {
  tool: string
  queue: string
  id: string
}

/** How long a parked job sleeps when nobody wakes it, in milliseconds. */
export const parkMs = 10_000

/** How many earlier jobs are looked at; as long as one of them is taken, the rest doesn't matter. */
const window = 50

/** Frees the tool if this job holds it. */
const freeScript = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"

/** Lets the jobs of serial tools through, one by one. */
export class SerialGate {
  readonly #redis: Redis
  readonly #queues: JobQueues

  constructor (redis: Redis, queues: JobQueues) {
    this.#redis = redis
    this.#queues = queues
  }

  /** Whether a job that this worker has taken may run now; then it holds the tool until `release`. */
  async enter (job: SerialJob): Promise<boolean> {
    await registerSerial(this.#redis, job)
    if (await this.#isBlocked(job)) return false
    const holderKey = serialKey(job.tool, 'holder')
    if (await this.#redis.set(holderKey, memberOf(job), 'NX') !== null) return true
    const holder = await this.#redis.get(holderKey)
    if (holder === memberOf(job)) return true
    if (holder !== null && await this.#stateOf(parse(job.tool, holder)) !== 'gone') return false
    if (holder !== null) await this.#redis.eval(freeScript, 1, holderKey, holder)
    return await this.#redis.set(holderKey, memberOf(job), 'NX') !== null
  }

  /** To be called after a job was parked: what it waited for may have ended in between. */
  async wakeIfFree (job: SerialJob): Promise<void> {
    if (await this.#isBlocked(job) || await this.#redis.exists(serialKey(job.tool, 'holder')) === 1) return
    await this.#wake(job)
  }

  /** Ends a job's hold, and wakes the next one that was taken before. */
  async release (job: SerialJob): Promise<void> {
    await this.#redis.zrem(serialKey(job.tool, 'jobs'), memberOf(job))
    await this.#redis.eval(freeScript, 1, serialKey(job.tool, 'holder'), memberOf(job))
    for (const member of await this.#redis.zrange(serialKey(job.tool, 'jobs'), '0', String(window))) {
      const next = parse(job.tool, member)
      const state = await this.#stateOf(next)
      if (state === 'taken') return await this.#wake(next)
      if (state === 'gone') await this.#forget(next)
    }
  }

  /** Jobs that wait in their queues block nothing: they may be delayed, of low priority, or in a queue without workers. */
  async #isBlocked (job: SerialJob): Promise<boolean> {
    for (const member of await this.#redis.zrangebylex(serialKey(job.tool, 'jobs'), '-', `(${memberOf(job)}`, 'LIMIT', 0, window)) {
      const earlier = parse(job.tool, member)
      const state = await this.#stateOf(earlier)
      if (state === 'taken') return true
      if (state === 'gone') await this.#forget(earlier)
    }
    return false
  }

  async #stateOf ({ queue, id }: SerialJob): Promise<'gone' | 'waiting' | 'taken'> {
    const [timestamp, processedOn, finishedOn] = await this.#redis.hmget(jobKey(queue, id), 'timestamp', 'processedOn', 'finishedOn')
    if (timestamp === null || timestamp === undefined || (finishedOn !== null && finishedOn !== undefined)) return 'gone'
    return processedOn === null || processedOn === undefined ? 'waiting' : 'taken'
  }

  async #forget (job: SerialJob): Promise<void> {
    await this.#redis.zrem(serialKey(job.tool, 'jobs'), memberOf(job))
  }

  /** A job that isn't parked needs no waking. */
  async #wake ({ queue, id }: SerialJob): Promise<void> {
    const job = await this.#queues.open(queue).getJob(id)
    await job?.promote().catch(() => {})
  }
}

/** Makes a serial job known before it is taken, so that the order is that of arrival. */
export async function registerSerial (redis: Redis, job: SerialJob): Promise<void> {
  await redis.zadd(serialKey(job.tool, 'jobs'), 0, memberOf(job))
}

function memberOf ({ id, queue }: SerialJob): string {
  return `${id}|${queue}`
}

function parse (tool: string, member: string): SerialJob {
  const at = member.indexOf('|')
  return { tool, id: member.slice(0, at), queue: member.slice(at + 1) }
}
