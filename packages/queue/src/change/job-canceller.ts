import { randomUUID } from 'node:crypto'
import { type Redis, cancelChannel, jobKey, jobPartKey, placeOfKey, queueKey, RedisUnavailableError, whileAvailable, goOnWhenFull, fromRedis } from '@toolyard/store'
import { bullmq } from '../record/bullmq.ts'
import type { CallError, JobData, OutputRecord } from '@toolyard/contract'
import { approvalField } from '../record/approval.ts'
import { cancelled, isCancelled } from '../record/cancellation.ts'
import { JobFlow } from './job-flow.ts'
import { leaveHeld } from '../queues/held-jobs.ts'
import { leaveTenantLine } from '../queues/release.ts'
import { leaveSerialLine } from '../queues/serial-lock.ts'
import type { JobQueues } from '../queues/job-queues.ts'
import { unbegunField } from '../backend/scripts/job-scripts.ts'
import { lockMs } from '../backend/lock-renewal.ts'
import { hasAsked } from '../record/question.ts'
import { encodeFailure } from '../record/settlement.ts'

/*
 * A job is cancelled in two steps: one script marks the job and takes its lock, then the canceller settles it as a worker
 * would. A settlement of a worker that comes later is dropped, because settling takes the lock.
 *
 * A canceller that dies between the two leaves a job whose lock runs out. The worker that takes the job sees the mark.
 * Workers that were lost before the cancel don't count then. Steps are cancelled after their job, and again by whoever
 * meets a cancelled job. See docs/decisions/0025-cancel-takes-lock.md.
 */

/**
 * KEYS: job, lock, active, prioritized, delayed, wait, paused, waiting-children, stalled. ARGV: id, token, lock time, channel, why:
 * `cancelled`; `denied`, unless somebody has run it again since; `lost`, where its run had begun and nobody has it now.
 */
const takeScript = `
if redis.call('EXISTS', KEYS[1]) == 0 then return 'missing' end
if redis.call('HEXISTS', KEYS[1], 'finishedOn') == 1 then return 'finished' end
local why = ARGV[5]
if why == 'denied' and cjson.decode(redis.call('HGET', KEYS[1], '${approvalField}') or '{}').state ~= 'denied' then return 'finished' end
-- Somebody was told that it is cancelled, and ends it so.
if why ~= 'cancelled' and redis.call('HEXISTS', KEYS[1], 'cancelled') == 1 then return 'finished' end
if why == 'lost' then
  local runs = redis.call('HMGET', KEYS[1], 'ats', 'atm')
  local isBegun = redis.call('HEXISTS', KEYS[1], '${unbegunField}') == 0 and tonumber(runs[1] or 0) > tonumber(runs[2] or 0)
  if not isBegun or redis.call('EXISTS', KEYS[2]) == 1 then return 'finished' end
end
${goOnWhenFull('KEYS[1]')}
if why == 'lost' and redis.call('LREM', KEYS[3], 0, ARGV[1]) == 0 then return 'finished' end
-- As a worker that takes it, only to end it.
if why == 'lost' then redis.call('HINCRBY', KEYS[1], 'ats', 1) end
if why == 'cancelled' then redis.call('HSET', KEYS[1], 'cancelled', '1') end
redis.call('HDEL', KEYS[1], 'stc', 'defa')
-- A worker may have taken a denied job, only to end it.
if why == 'denied' and redis.call('HDEL', KEYS[1], '${unbegunField}') == 1 then redis.call('HSET', KEYS[1], 'ats', redis.call('HGET', KEYS[1], 'atm') or '0') end
for _, key in ipairs({KEYS[3], KEYS[6], KEYS[7]}) do redis.call('LREM', key, 0, ARGV[1]) end
for _, key in ipairs({KEYS[4], KEYS[5], KEYS[8]}) do redis.call('ZREM', key, ARGV[1]) end
redis.call('SREM', KEYS[9], ARGV[1])
redis.call('LPUSH', KEYS[3], ARGV[1])
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
-- Workers remember it for a while. A denied job doesn't run, and may soon be run again.
if why == 'cancelled' then redis.call('PUBLISH', ARGV[4], ARGV[1]) end
return 'taken'
`
const lists = ['active', 'prioritized', 'delayed', 'wait', 'paused', 'waiting-children', 'stalled']

/** `finished` when the job had succeeded or failed before, `missing` when there is no such job. */
type CancelResult = 'cancelled' | 'finished' | 'missing'

type JobPlace = ReturnType<typeof placeOfKey>

export class JobCanceller {
  readonly #redis: Redis
  readonly #queues: JobQueues

  constructor (redis: Redis, queues: JobQueues) {
    this.#redis = redis
    this.#queues = queues
  }

  /**
   * Cancels a job for good; cancelling it again changes nothing.
   *
   * @throws RedisUnavailableError, after which the job may or may not be cancelled.
   */
  async cancel (queue: string, jobId: string): Promise<CancelResult> {
    const taken = await this.#end(queue, jobId, cancelled, 'cancelled')
    if (taken === 'missing') return 'missing'
    if (taken === 'finished' && !isCancelled(await whileAvailable(this.#redis.hget(jobKey(queue, jobId), 'failedReason')))) return 'finished'
    await this.cancelSteps(queue, jobId)
    return 'cancelled'
  }

  /**
   * Ends a job that somebody has denied, which its record says.
   *
   * @throws RedisUnavailableError, after which a worker ends it.
   */
  async deny (queue: string, jobId: string, error: CallError): Promise<void> {
    await this.#end(queue, jobId, error, 'denied')
  }

  /**
   * Ends a job whose worker was lost, if its run had begun and no worker has taken it since.
   *
   * @returns whether it did
   * @throws RedisUnavailableError, after which a worker ends it.
   */
  async endLost (queue: string, jobId: string, error: CallError): Promise<boolean> {
    const isTaken = await this.#end(queue, jobId, error, 'lost') === 'taken'
    if (isTaken) await this.cancelSteps(queue, jobId)
    return isTaken
  }

  async #end (queue: string, jobId: string, error: CallError, why: 'cancelled' | 'denied' | 'lost'): Promise<'missing' | 'finished' | 'taken'> {
    const token = randomUUID()
    const keys = [jobKey(queue, jobId), jobPartKey(queue, jobId, 'lock'), ...lists.map(name => queueKey(queue, name))]
    const taken = fromRedis<'missing' | 'finished' | 'taken'>(await whileAvailable(
      this.#redis.eval(takeScript, keys.length, ...keys, jobId, token, lockMs, cancelChannel, why)
    ))
    if (taken === 'taken') await this.#settle(queue, jobId, token, error)
    return taken
  }

  /** Cancels the jobs that a job made as its steps and that have not ended. */
  async cancelSteps (queue: string, jobId: string): Promise<void> {
    await this.cancelAll(await this.stepsOf(queue, jobId))
  }

  /** The jobs that a job made as its steps and that have not ended. */
  async stepsOf (queue: string, jobId: string): Promise<JobPlace[]> {
    return (await whileAvailable(this.#redis.smembers(jobPartKey(queue, jobId, 'dependencies')))).map(placeOfKey)
  }

  async cancelAll (jobs: readonly JobPlace[]): Promise<void> {
    await Promise.all(jobs.map(({ queue, id }) => this.cancel(queue, id)))
  }

  /** Settles a job whose lock this canceller has. Another canceller may have the lock by now, and settles the job then. */
  async #settle (queue: string, jobId: string, token: string, error: CallError): Promise<void> {
    const opened = this.#queues.open(queue)
    try {
      const job = await whileAvailable(bullmq.Job.fromId<JobData, OutputRecord>(opened, jobId))
      if (job === undefined) return
      if (job.data.callbackUrl !== undefined) await whileAvailable(this.#queues.callbacks.enter({ queue, jobId }))
      await whileAvailable(job.moveToFailed(new bullmq.UnrecoverableError(encodeFailure(error)), token))
      if (job.data.hold !== undefined || hasAsked(job)) await whileAvailable(leaveHeld(this.#redis, queue, jobId, job.data.tenant))
      // The end says it now. Should an operator run the job again, it isn't cancelled any more.
      await whileAvailable(this.#redis.hdel(jobKey(queue, jobId), 'cancelled'))
      await whileAvailable(this.#queues.callbacks.post(queue, job))
      await whileAvailable(this.#leaveLines({ queue, id: jobId }, job.data))
      // Any number of jobs may wait for it. It has ended, however long it takes to release them; the upkeep finds what is left.
      await whileAvailable(new JobFlow({ redis: this.#redis, queues: this.#queues }, queue).settled(job)).catch(() => {})
    } catch (error) {
      if (error instanceof RedisUnavailableError) throw error
    }
  }

  async #leaveLines (job: JobPlace, { tenant, tool }: JobData): Promise<void> {
    // Its tool may have been made serial after it.
    await leaveSerialLine(this.#redis, tool, job)
    if (tenant !== undefined) await leaveTenantLine(this.#redis, tenant, job)
  }
}
