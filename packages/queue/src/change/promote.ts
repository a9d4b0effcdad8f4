import type { Job } from 'bullmq'
import { fromRedis, whileAvailable } from '@toolyard/store'
import type { JobQueues } from '../queues/job-queues.ts'

/**
 * Has a job that waits for its time run as soon as a worker is free; false when it waits for none, or is gone.
 *
 * @throws RedisUnavailableError
 */
export async function promoteJob (queues: JobQueues, queue: string, jobId: string): Promise<boolean> {
  const job = fromRedis<Job | undefined>(await whileAvailable(queues.open(queue).getJob(jobId)))
  if (job === undefined || job.delay === 0 || job.processedOn !== undefined) return false
  return await whileAvailable(job.promote()).then(() => true, (error: unknown) => {
    // BullMQ's error of a job that isn't delayed any more has a code.
    if (error instanceof Error && 'code' in error && typeof error.code === 'number') return false
    throw error
  })
}
