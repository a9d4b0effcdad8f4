import { HttpError } from '@toolyard/contract'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Socket } from 'node:net'

/**
 * Once the process has been told to stop, no connection is kept after its answer; while it stops, new requests are refused.
 * At the end, connections without a request are closed: Node takes one for idle only after its first answer, and would wait.
 */
export const stopping = fp<{ draining: AbortSignal, stopping: AbortSignal }>(async (app: FastifyInstance, { draining, stopping }) => {
  app.addHook('onRequest', async request => {
    const isProbe = request.url.startsWith('/health') || request.url.startsWith('/ready')
    if (stopping.aborted && !isProbe) throw new HttpError('UNAVAILABLE', 'The service is stopping')
  })
  app.addHook('onSend', async (_request, reply) => {
    if (draining.aborted) void reply.header('connection', 'close')
  })
  const silent = new Set<Socket>()
  app.server.on('connection', socket => {
    silent.add(socket)
    socket.once('close', () => { silent.delete(socket) })
  })
  app.server.on('request', (request, response) => {
    silent.delete(request.socket)
    // The headers of a stream that ends now were sent before, and say nothing of an end.
    response.once('finish', () => { if (draining.aborted) request.socket.destroySoon() })
  })
  app.addHook('preClose', async () => { for (const socket of silent) socket.destroy() })
}, { name: 'stopping' })
