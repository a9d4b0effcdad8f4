import type { CallError } from '@toolyard/contract'
import type { Job } from 'bullmq'
import { type Redis, jobKey, idOf } from '@toolyard/store'
import { decodeFailure } from './settlement.ts'

export const cancelled: CallError = { code: 'JOB_CANCELLED', message: 'Job was cancelled' }

export function isCancelled (failedReason: string | null): boolean {
  return failedReason !== null && decodeFailure(failedReason).code === cancelled.code
}

/** Whether a job was cancelled by a process that died before it settled it: its lock ran out then. */
export async function isMarked (redis: Redis, queue: string, job: Job): Promise<boolean> {
  return job.stalledCounter > 0 && await redis.hexists(jobKey(queue, idOf(job)), 'cancelled') === 1
}

/** How long a worker remembers the cancel of a job that it doesn't run, in milliseconds. */
const memoryMs = 10_000

/**
 * The jobs that a worker process knows to be cancelled. It may get the message for one that it has taken and not
 * begun yet, so messages are remembered for a while.
 */
export class CancelledJobs {
  readonly #heard = new Map<string, number>()

  add (jobId: string): void {
    const now = performance.now()
    // A map keeps the order of insertion: the oldest come first.
    for (const [id, at] of this.#heard) {
      if (at > now - memoryMs) break
      this.#heard.delete(id)
    }
    this.#heard.set(jobId, now)
  }

  has (jobId: string): boolean {
    const at = this.#heard.get(jobId)
    return at !== undefined && at > performance.now() - memoryMs
  }
}
