import { HttpError } from '@toolyard/contract'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

/** Once the process has been told to stop, no connection is kept after its answer; while it stops, new requests are refused. */
export const stopping = fp<{ draining: AbortSignal, stopping: AbortSignal }>(async (app: FastifyInstance, { draining, stopping }) => {
  app.addHook('onRequest', async request => {
    const isProbe = request.url.startsWith('/health') || request.url.startsWith('/ready')
    if (stopping.aborted && !isProbe) throw new HttpError('UNAVAILABLE', 'The service is stopping')
  })
  app.addHook('onSend', async (_request, reply) => {
    if (draining.aborted) void reply.header('connection', 'close')
  })
}, { name: 'stopping' })
