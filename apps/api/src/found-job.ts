import { HttpError, type JobView } from '@toolyard/contract'
import type { JobReader } from '@toolyard/queue'
import type { Principal } from './plugins/auth.ts'

/** What a job's id looks like. */
export const jobIdPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * Reads a job that a key may see. An id that can't be one names no job; another key's job looks the same (RC24, RC25).
 *
 * @throws HttpError `NOT_FOUND`; RedisUnavailableError.
 */
export async function findJob (jobs: JobReader, id: string, principal: Principal): Promise<JobView> {
  const job = jobIdPattern.test(id) ? await jobs.find(id, principal.queueAllowlist) : undefined
  if (job === undefined) throw new HttpError('NOT_FOUND', 'Job not found')
  return job
}
