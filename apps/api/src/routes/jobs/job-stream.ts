import { ErrorBody, HttpError } from '@toolyard/contract'
import { compareLogIds, logStart, parseLogId, type JobReader } from '@toolyard/queue'
import { Type } from '@toolyard/contract/type'
import type { App } from '../../plugins/typed-app.ts'
import { findJob } from './found-job.ts'
import { principalOf, requireSse } from '../../access/principal.ts'
import type { JobStreams } from '../../streams/job-streams.ts'

export async function jobStreamRoutes (app: App, { jobs, streams }: { jobs: JobReader, streams: JobStreams }): Promise<void> {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/jobs/:id/stream',
    // The HEAD that Fastify adds would open a stream.
    exposeHeadRoute: false,
    config: { streamTicket: true, makesWork: true },
    schema: {
      params: Type.Object({ id: Type.String() }),
      querystring: Type.Object({
        since_log_id: Type.Optional(Type.Unknown({ description: 'Resume after this line of the log; of this and Last-Event-ID the later counts.' })),
        stream_token: Type.Optional(Type.Unknown({ description: 'A ticket of POST /v1/auth/sse-token, instead of a key.' }))
      }),
      response: { '4xx': ErrorBody, '5xx': ErrorBody }
    },
    handler: async (request, reply) => {
      const principal = principalOf(request)
      requireSse(principal)
      const header = readLogId("the header 'Last-Event-ID'", request.headers['last-event-id'])
      const query = readLogId("'since_log_id'", request.query.since_log_id)
      const job = await findJob(jobs, request.params.id, principal)
      if (request.method === 'HEAD') return await streams.sendHead(reply)
      streams.open(job, compareLogIds(header, query) > 0 ? header : query, reply)
      return reply
    }
  })
}

function readLogId (what: string, text: unknown): string {
  if (text === undefined || text === '') return logStart
  const id = typeof text === 'string' ? parseLogId(text) : undefined
  if (id === undefined) throw new HttpError('VALIDATION_ERROR', `${what} must be the id of a log line, such as 1767225600000-0`)
  return id
}
