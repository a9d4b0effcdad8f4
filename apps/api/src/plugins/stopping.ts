import { HttpError } from '@toolyard/contract'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

/** While the process stops, new requests are refused, and no connection is kept after its answer. */
export const stopping = fp<{ stopping: AbortSignal }>(async (app: FastifyInstance, { stopping }) => {
  app.addHook('onRequest', async request => {
    const told = request.url.startsWith('/health') || request.url.startsWith('/ready')
    if (stopping.aborted && !told) throw new HttpError('UNAVAILABLE', 'The service is stopping')
  })
  app.addHook('onSend', async (_request, reply) => {
    if (stopping.aborted) void reply.header('connection', 'close')
  })
}, { name: 'stopping' })
