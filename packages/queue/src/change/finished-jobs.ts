import type { JobData } from '@toolyard/contract'
import type { Job } from 'bullmq'
import { type Redis, createdKey, jobKey, queueKey, whileAvailable, fromRedis } from '@toolyard/store'
import { isCancelled } from '../record/cancellation.ts'
import type { JobCanceller } from './job-canceller.ts'
import type { JobQueues } from '../queues/job-queues.ts'
import type { RunAgainResult } from '../backend/run-again.ts'
import { publicPriority } from '../queues/fair-order.ts'
import { outputSec, type Retention } from '../record/retention.ts'

/*
 * An operator's changes of jobs that have ended. A failed job can be run again, under the same id, with all its
 * attempts; its counters and outcome are reset, so that the earlier runs don't count. A cancelled job stays cancelled.
 * See docs/decisions/0043-run-again.md.
 */

/**
 * `unfailed` when the job waits, runs or has succeeded, `full` when a limit leaves no room, `step` when it is that of a workflow, which
 * makes steps anew when it is run again itself.
 */
type RerunResult = RunAgainResult | 'cancelled' | 'forbidden' | 'full' | 'step'

export interface Operator {
  /** Name of the API key; it goes into the job's log, where that is not a tenant's. */
  keyName: string
  /** The bulk change that this is a part of: it runs a job again once, also where a part of it is done twice. */
  bulkId?: string
  /** Whether the key could have this tool run. */
  mayRun: (tool: string) => boolean
}

/** Removes a job that has ended, with all that is kept of it. KEYS: completed, failed, index. ARGV: key of the job, its id. */
const removeScript = `
if redis.call('ZREM', KEYS[1], ARGV[2]) + redis.call('ZREM', KEYS[2], ARGV[2]) == 0 then return 0 end
local job = ARGV[1]
redis.call('DEL', job, job .. ':logs', job .. ':dependencies', job .. ':processed', job .. ':failed', job .. ':unsuccessful', job .. ':output', job .. ':log', job .. ':dependents')
redis.call('ZREMRANGEBYLEX', KEYS[3], '[' .. ARGV[2] .. ' ', '(' .. ARGV[2] .. '!')
return 1
`

interface FinishedJobsParts {
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

  async rerun (queue: string, jobId: string, operator: Operator): Promise<RerunResult> {
    const { queues, canceller, retention } = this.#parts
    // Steps that somebody left. They are read before the job: those that are there by then aren't of a later run.
    const steps = await canceller.stepsOf(queue, jobId)
    const opened = queues.open(queue)
    const job = fromRedis<Job<JobData> | undefined>(await whileAvailable(opened.getJob(jobId)))
    if (job === undefined) return 'missing'
    if (!operator.mayRun(job.data.tool)) return 'forbidden'
    if (job.parentKey !== undefined) return 'step'
    if (isCancelled(job.failedReason ?? null)) return 'cancelled'
    if (job.finishedOn === undefined) return 'unfailed'
    const entry = { id: jobId, data: job.data, priority: publicPriority(job.priority) }
    const turns = await queues.enterAgain(queue, entry)
    if (turns === undefined) return 'full'
    try {
      await canceller.cancelAll(steps)
      const meta = job.data.tenant === undefined ? { key: operator.keyName } : undefined
      const [priority = job.priority] = turns.priorities
      const wish = { endedAt: job.finishedOn, bulkId: operator.bulkId, meta, logSec: outputSec(retention), priority }
      const result = await whileAvailable(opened.backend.runAgain(jobId, wish))
      if (result === 'queued') await queues.keepEntered(queue, entry)
      return result
    } finally {
      turns.settle()
    }
  }

  /** Whether there was a finished job of that id. */
  async remove (queue: string, jobId: string): Promise<boolean> {
    const keys = [queueKey(queue, 'completed'), queueKey(queue, 'failed'), createdKey(queue)]
    return await whileAvailable(this.#parts.redis.eval(removeScript, keys.length, ...keys, jobKey(queue, jobId), jobId)) === 1
  }
}
