import { type Redis, jobChannel } from '@toolyard/store'

/** The record, or only the log, or only how far the job is. */
export type JobChange = 'job' | 'log' | 'progress'

/**
 * Tells all watchers of a job that it changed. The message has no content: its receiver reads the job, so that
 * nothing is lost with a message, and nothing comes twice.
 */
export async function publishJobChange (redis: Redis, jobId: string, change: JobChange): Promise<void> {
  await redis.publish(jobChannel(jobId), change)
}
