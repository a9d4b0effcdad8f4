import { ErrorBody, JobLogsResponse, readTail } from '@toolyard/contract'
import type { JobLogs, JobReader } from '@toolyard/queue'
import { Type } from 'typebox'
import type { App } from '../app.ts'
import { queueOfJob } from '../found-job.ts'
import { principalOf } from '../plugins/auth.ts'

/** The last lines of a job's log (RC19). */
export async function jobLogRoutes (app: App, { jobs, logs }: { jobs: JobReader, logs: JobLogs }): Promise<void> {
  app.get('/jobs/:id/logs', {
    schema: {
      params: Type.Object({ id: Type.String() }),
      querystring: Type.Object({ tail: Type.Optional(Type.Unknown({ description: 'How many lines: an integer 1..2000, 200 when absent.' })) }),
      response: { 200: JobLogsResponse, '4xx': ErrorBody, '5xx': ErrorBody }
    }
  }, async request => {
    const tail = readTail(request.query.tail)
    const { id } = request.params
    const queue = await queueOfJob(jobs, id, principalOf(request))
    const entries = await logs.tail(queue, id, tail)
    return { ok: true as const, logs: entries, count: entries.length }
  })
}
