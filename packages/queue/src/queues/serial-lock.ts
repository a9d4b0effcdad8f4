import type { JobData } from '@toolyard/contract'
import type { Job } from 'bullmq'
import { type Redis, idOf, jobKey, jobPartKey, ownerOf, queueKey, queueStem, serialKey, serialToolsKey, fromRedis } from '@toolyard/store'
import type { JobQueues } from './job-queues.ts'
import { promote } from './release.ts'
import { behindScript, callScript, comingScript, enterScript, leaveScript, moveScript, noteScript, registerSerial } from './serial-scripts.ts'

/*
 * A serial tool runs one call at a time over the whole pool. Jobs that workers have taken stand in a line. Owners take turns, and
 * those of one go in the order of their arrival, that of their ids. The first one gets the tool, the others are parked as delayed.
 * No step depends on a single process or queue: see docs/decisions/0046-serial-tools.md.
 *
 * States of a job: taken -> in line and parked -> called -> taken again -> running -> released.
 */

export interface SerialJob {
  tool: string
  /** From `ownerOf`. */
  owner: string
  type: string
  queue: string
  id: string
}

/** `runs`: the job has the tool. `parks`: it waits until it is called. `gives way`: it waits too, as an earlier one is about to enter. */
export type Turn = 'runs' | 'parks' | 'gives way'

/** A parked job is called; should Redis lose the line, it comes by itself after so many milliseconds, and more for each one before it. */
const parkMs = { least: 60_000, perPlace: 1_000 }
/** A job that was called is waited for so long, in milliseconds. */
const comesMs = 2_000

/** What the lock knows of a job. */
export function serialJobOf (job: Job<JobData>, queue: string): SerialJob {
  return { tool: job.data.tool, owner: ownerOf(job.data), type: job.name, queue, id: idOf(job) }
}

export class SerialLock {
  readonly #redis: Redis
  readonly #queues: JobQueues

  constructor (redis: Redis, queues: JobQueues) {
    this.#redis = redis
    this.#queues = queues
  }

  /** Whether a job that this worker has taken may run now; then it has the tool's turn until `release`. */
  async enter (job: SerialJob, token: string): Promise<Turn> {
    await registerSerial(this.#redis, job)
    const state = await this.#enter(job, token, '')
    // Not before: until it is in the line, a later job has to give way to it.
    await this.#redis.eval(noteScript, 1, jobKey(job.queue, job.id))
    if (state === 'held') await this.call(job.tool)
    if (state === 'holds') return 'runs'
    if (state !== 'first') return 'parks'
    if (await this.#isEarlierComing(job)) return 'gives way'
    return await this.#enter(job, token, '1') === 'holds' ? 'runs' : 'parks'
  }

  /**
   * Parks a job that waits for something else than the tool. It leaves the line, in which it would have the place of its owner. Later
   * ones give way to it when it comes again.
   */
  async parkOutside (job: SerialJob, park: () => Promise<void>): Promise<void> {
    await this.#eval(leaveScript, job.tool, memberOf(job), '')
    await this.#redis.hdel(jobKey(job.queue, job.id), 'entered')
    await park()
    // Not before: until it is parked, others give way to it. It is parked, whatever becomes of this: the upkeep calls as well.
    await this.call(job.tool).catch(() => {})
  }

  /** How long a job is parked that is in the line, in milliseconds. */
  async parkMs (job: SerialJob): Promise<number> {
    return parkMs.least + parkMs.perPlace * (await this.#redis.zrank(serialKey(job.tool, 'line'), memberOf(job)) ?? 0)
  }

  /** To be called after a job was parked: it may have been called in between, or the tool be free. */
  async parked (job: SerialJob, turn: Turn): Promise<void> {
    await this.call(job.tool, job, turn)
  }

  async release (job: SerialJob, token: string): Promise<void> {
    await this.#eval(leaveScript, job.tool, memberOf(job), token)
    await this.call(job.tool)
  }

  /**
   * Calls the first job in line, if the tool is free.
   *
   * @param parked who has just been parked, and is called even if it was called before
   */
  async call (tool: string, parked?: SerialJob, turn?: Turn): Promise<'idle' | 'busy'> {
    for (;;) {
      const [state = '', member = '', token = ''] = fromRedis<string[]>(
        await this.#eval(callScript, tool, comesMs, parked === undefined ? '' : memberOf(parked), turn === 'gives way' ? 1 : '')
      )
      if (state === 'idle') return 'idle'
      const job = parse(member)
      if (state === 'held') {
        if (await this.#isTaken(job)) return 'busy'
        await this.#eval(leaveScript, tool, member, token)
      } else if (!await this.#isOpen(job)) {
        await this.#eval(leaveScript, tool, member, '')
      } else if (state === 'late') {
        await this.#move(tool, job.queue, 1)
        await this.#eval(behindScript, tool, member, job.queue)
      } else {
        if (state === 'call') await promote(this.#queues, job)
        return 'busy'
      }
    }
  }

  /** Does what others left undone, for all serial tools. `queues`: those that exist. */
  async review (queues: readonly string[]): Promise<void> {
    for (const tool of await this.#redis.smembers(serialToolsKey)) {
      const queuesKey = serialKey(tool, 'queues')
      const gone = (await this.#redis.smembers(queuesKey)).filter(queue => !queues.includes(queue))
      if (gone.length > 0) await this.#redis.srem(queuesKey, ...gone)
      if (await this.call(tool) === 'busy' || await this.#redis.exists(queuesKey) === 1) continue
      await this.#redis.srem(serialToolsKey, tool)
      // Who adds a job notes the queue first.
      if (await this.#redis.exists(queuesKey) === 1) await this.#redis.sadd(serialToolsKey, tool)
    }
  }

  async #enter (job: SerialJob, token: string, hold: '' | '1'): Promise<string> {
    for (;;) {
      const state = fromRedis<string>(await this.#eval(enterScript, job.tool, memberOf(job), token, job.queue, hold, job.owner))
      if (state !== 'returns') return state
      await this.#move(job.tool, job.queue, 0)
    }
  }

  /** Puts jobs of a queue behind all others, or back. */
  async #move (tool: string, queue: string, behind: 0 | 1): Promise<void> {
    let cursor = '0'
    do cursor = fromRedis<string>(await this.#eval(moveScript, tool, cursor, queue, behind))
    while (cursor !== '0')
  }

  async #isEarlierComing ({ tool, type, id }: SerialJob): Promise<boolean> {
    const queues = await this.#redis.smembers(serialKey(tool, 'queues'))
    const coming = await Promise.all(queues.map(async queue => (
      await this.#redis.eval(comingScript, 1, queueKey(queue, 'active'), queueStem(queue), type, id)
    )))
    return coming.includes(1)
  }

  /** Whether a worker has the job: its lock runs out when it doesn't renew it. */
  async #isTaken ({ queue, id }: Place): Promise<boolean> {
    return await this.#redis.exists(jobPartKey(queue, id, 'lock')) === 1
  }

  async #isOpen ({ queue, id }: Place): Promise<boolean> {
    const [timestamp, finishedOn] = await this.#redis.hmget(jobKey(queue, id), 'timestamp', 'finishedOn')
    return typeof timestamp === 'string' && typeof finishedOn !== 'string'
  }

  async #eval (script: string, tool: string, ...args: Array<string | number>): Promise<unknown> {
    return await this.#redis.eval(script, 3, serialKey(tool, 'line'), serialKey(tool, 'gate'), serialKey(tool, 'turns'), ...args)
  }
}

/** To be called for a job that has ended without a run: who calls the next one looks at each that stands before it. */
export async function leaveSerialLine (redis: Redis, tool: string, job: Place): Promise<void> {
  await redis.zrem(serialKey(tool, 'line'), memberOf(job))
}

type Place = Pick<SerialJob, 'queue' | 'id'>

function memberOf ({ id, queue }: Place): string {
  return `${id}|${queue}`
}

function parse (member: string): Place {
  const at = member.indexOf('|')
  return { id: member.slice(0, at), queue: member.slice(at + 1) }
}
