import type { JobData } from '@toolyard/contract'
import type { Job } from 'bullmq'
import { type Redis, createdKey, queueKey, queueStem, whileAvailable, fromRedis } from '@toolyard/store'
import { isCancelled } from '../record/cancellation.ts'
import type { JobCanceller } from './job-canceller.ts'
import type { JobQueues } from '../queues/job-queues.ts'
import type { RunAgainResult } from '../backend/run-again.ts'
import { outputSec, type Retention } from '../record/retention.ts'

/*
 * What an operator may do to jobs that have ended. A failed job can be run again, under the same id, with all its
 * attempts; its counters and outcome are reset, so that the earlier runs don't count. A cancelled job stays cancelled.
 * See docs/decisions/0043-run-again.md.
 */

/** What became of a request to run a job again; `unfailed` when it waits, runs or has succeeded. */
export type RerunResult = RunAgainResult | 'cancelled' | 'forbidden'

/** Who wants it. */
export interface Operator {
  /** Name of the API key; it goes into the job's log, where that is not a tenant's. */
  keyName: string
  /** The bulk change that this is a part of: it runs a job again once, also where a part of it is done twice. */
  bulkId?: string
  /** Whether the key could have this tool run. */
  mayRun: (tool: string) => boolean
}

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
    const { queues, canceller, retention } = this.#parts
    // Steps that somebody left. They are read before the job: those that are there by then aren't of a later run.
    const steps = await canceller.stepsOf(queue, jobId)
    const opened = queues.open(queue)
    const job = fromRedis<Job<JobData> | undefined>(await whileAvailable(opened.getJob(jobId)))
    if (job === undefined) return 'missing'
    if (!operator.mayRun(job.data.tool)) return 'forbidden'
    if (isCancelled(job.failedReason ?? null)) return 'cancelled'
    if (job.finishedOn === undefined) return 'unfailed'
    await canceller.cancelAll(steps)
    const meta = job.data.tenant === undefined ? { key: operator.keyName } : undefined
    const wish = { endedAt: job.finishedOn, bulkId: operator.bulkId, meta, logSec: outputSec(retention) }
    return await whileAvailable(opened.backend.runAgain(jobId, wish))
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
}
