import type { JobView } from '@toolyard/client'
import type { Api } from '../access/api.ts'

/** What a person must know who runs again what others have submitted. */
export const inOwnName = 'It is a new job, with the rights and the secrets of your key.'

export async function runAgain (api: Api, job: JobView): Promise<JobView> {
  const { type, input, queue, priority, max_attempts: maxAttempts, tags, session } = job
  const body = { type, input, queue, priority, max_attempts: maxAttempts, tags, ...(session === undefined ? {} : { session }) }
  return (await api.ask<{ job: JobView }>('/v1/jobs', { method: 'POST', body })).job
}
