import type { JobData } from '@toolyard/contract'
import type { Job } from 'bullmq'
import { type Redis, createdKey, jobKey, queueKey, queueStem, rerunsField, whileAvailable, fromRedis } from '@toolyard/store'
import { bullmq } from '../record/bullmq.ts'
import { isCancelled } from '../record/cancellation.ts'
import { publishJobChange } from '../record/log/job-change.ts'
import { JobLogWriter } from '../record/log/job-log-writer.ts'
import type { JobCanceller } from './job-canceller.ts'
import type { JobQueues } from '../queues/job-queues.ts'
import { beganField } from '../record/job-times.ts'
import type { Retention } from '../record/retention.ts'

/*
 * What an operator may do to jobs that have ended. A failed job can be run again, under the same id, with all its
 * attempts; its counters and outcome are reset, so that the earlier runs don't count. A cancelled job stays cancelled.
 * See docs/decisions/0043-run-again.md.
 */

/** What became of a request to run a job again; `unfailed` when it waits, runs or has succeeded. */
export type RerunResult = 'queued' | 'missing' | 'unfailed' | 'cancelled' | 'forbidden'

/** Who wants it. */
export interface Operator {
  /** Name of the API key; it goes into the job's log, where that is not a tenant's. */
  keyName: string
  /** The bulk change that this is a part of: it runs a job again once, also where a part of it is done twice. */
  bulkId?: string
  /** Whether the key could have this tool run. */
  mayRun: (tool: string) => boolean
}

const bulkField = 'wish'
/**
 * Removes what earlier runs of a failed job left behind, and counts the new run. Answers `failed` when the job may run again,
 * else why not. The job keeps the id of the bulk change and the time of its end. A bulk change that does a page again finds
 * both unchanged where the job was not put back yet, and another end where the job has failed again since. KEYS: job, failed
 * jobs. ARGV: id, id of the bulk change or nothing, fields to remove.
 */
const forgetScript = `
if redis.call('EXISTS', KEYS[1]) == 0 then return 'missing' end
if not redis.call('ZSCORE', KEYS[2], ARGV[1]) then return 'unfailed' end
if ARGV[2] ~= '' then
  local mark = ARGV[2] .. ' ' .. (redis.call('HGET', KEYS[1], 'finishedOn') or '')
  local known = redis.call('HGET', KEYS[1], '${bulkField}')
  if known and known ~= mark and string.sub(known, 1, #ARGV[2]) == ARGV[2] then return 'unfailed' end
  redis.call('HSET', KEYS[1], '${bulkField}', mark)
end
redis.call('HDEL', KEYS[1], unpack(ARGV, 3))
redis.call('HINCRBY', KEYS[1], '${rerunsField}', 1)
return 'failed'
`
/**
 * BullMQ's counter of stalls, a failure that it has put off, the mark of a canceller that died, what a workflow waited for
 * and when it began, and who ran the job.
 */
const leftovers = ['stc', 'defa', 'cancelled', 'seen', beganField, 'pb']

/** Removes jobs that have ended, with all that is kept of them. KEYS: completed, failed, index. ARGV: stem of the jobs' keys, ids. */
const removeScript = `
local removed = 0
for i = 2, #ARGV do
  if redis.call('ZREM', KEYS[1], ARGV[i]) + redis.call('ZREM', KEYS[2], ARGV[i]) > 0 then
    local job = ARGV[1] .. ARGV[i]
    redis.call('DEL', job, job .. ':logs', job .. ':dependencies', job .. ':processed', job .. ':failed', job .. ':unsuccessful', job .. ':output', job .. ':log', job .. ':dependents')
    redis.call('ZREMRANGEBYLEX', KEYS[3], '[' .. ARGV[i] .. ' ', '(' .. ARGV[i] .. '!')
    removed = removed + 1
  end
end
return removed
`
/** Jobs that one script removes. */
const chunkSize = 200
const rerunsAtOnce = 50

/** What `FinishedJobs` works on. */
export interface FinishedJobsParts {
  redis: Redis
  queues: JobQueues
  canceller: JobCanceller
  retention: Retention
}

/** Runs failed jobs again, and removes finished ones. All methods throw RedisUnavailableError. */
export class FinishedJobs {
  readonly #parts: FinishedJobsParts

  constructor (parts: FinishedJobsParts) {
    this.#parts = parts
  }

  /** Puts a failed job back into its queue. */
  async rerun (queue: string, jobId: string, operator: Operator): Promise<RerunResult> {
    const { redis, queues, canceller } = this.#parts
    const job = fromRedis<Job<JobData> | undefined>(await whileAvailable(queues.open(queue).getJob(jobId)))
    if (job === undefined) return 'missing'
    if (!operator.mayRun(job.data.tool)) return 'forbidden'
    if (isCancelled(job.failedReason ?? null)) return 'cancelled'
    const found = await whileAvailable(redis.eval(forgetScript, 2, jobKey(queue, jobId), queueKey(queue, 'failed'), jobId, operator.bulkId ?? '', ...leftovers))
    if (found !== 'failed') return fromRedis(found)
    // Steps of the earlier run that somebody left.
    await canceller.cancelSteps(queue, jobId)
    // Said first, so that the line comes before those of the run.
    await this.#log(queue, jobId, job.data.tenant === undefined ? { key: operator.keyName } : {})
    try {
      await whileAvailable(job.retry('failed', { resetAttemptsMade: true, resetAttemptsStarted: true }))
    } catch (error) {
      // Another operator was faster.
      if (error instanceof Error && 'code' in error && error.code === bullmq.ErrorCode.JobNotInState) return 'unfailed'
      throw error
    }
    await whileAvailable(publishJobChange(redis, jobId, 'job'))
    return 'queued'
  }

  /** Puts the failed jobs of a queue back into it, cancelled ones excepted; how many were and weren't. */
  async rerunAll (queue: string, operator: Operator): Promise<{ retried: number, skipped: number }> {
    const ids = await whileAvailable(this.#parts.redis.zrange(queueKey(queue, 'failed'), '0', '-1'))
    let retried = 0
    for (let start = 0; start < ids.length; start += rerunsAtOnce) {
      const results = await Promise.all(ids.slice(start, start + rerunsAtOnce).map(id => this.rerun(queue, id, operator)))
      retried += results.filter(result => result === 'queued').length
    }
    return { retried, skipped: ids.length - retried }
  }

  /** Whether there was a finished job of that id. */
  async remove (queue: string, jobId: string): Promise<boolean> {
    return await this.#remove(queue, [jobId]) === 1
  }

  /** Removes the jobs of a queue that have ended one way. */
  async removeAll (queue: string, state: 'completed' | 'failed'): Promise<void> {
    const ids = await whileAvailable(this.#parts.redis.zrange(queueKey(queue, state), '0', '-1'))
    for (let start = 0; start < ids.length; start += chunkSize) await this.#remove(queue, ids.slice(start, start + chunkSize))
  }

  async #remove (queue: string, ids: readonly string[]): Promise<number> {
    return Number(await whileAvailable(this.#parts.redis.eval(removeScript, 3, queueKey(queue, 'completed'), queueKey(queue, 'failed'), createdKey(queue), queueStem(queue), ...ids)))
  }

  async #log (queue: string, jobId: string, meta: Record<string, unknown>): Promise<void> {
    const { redis, retention } = this.#parts
    const log = new JobLogWriter({ redis, queue, jobId, retention, onError: () => {} })
    log.write({ level: 'info', message: 'Run again by an operator', meta })
    await whileAvailable(log.close())
  }
}
