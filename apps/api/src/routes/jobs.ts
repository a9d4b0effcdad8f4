import { ErrorBody, HttpError, JobResponse } from '@toolyard/contract'
import type { JobReader } from '@toolyard/queue'
import { Type } from 'typebox'
import type { App } from '../app.ts'
import { principalOf } from '../plugins/auth.ts'

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Reading jobs back (R37, R41). */
export async function jobRoutes (app: App, { jobs }: { jobs: JobReader }): Promise<void> {
  app.get('/jobs/:id', {
    schema: { params: Type.Object({ id: Type.String() }), response: { 200: JobResponse, '4xx': ErrorBody } }
  }, async request => {
    const { id } = request.params
    // An id that can't be one names no job; another key's job looks the same (RC24, RC25).
    const job = uuid.test(id) ? await jobs.find(id, principalOf(request).queueAllowlist) : undefined
    if (job === undefined) throw new HttpError('NOT_FOUND', 'Job not found')
    return { ok: true as const, job }
  })
}
