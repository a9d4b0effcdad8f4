import type { FastifyInstance } from 'fastify'
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import fp from 'fastify-plugin'

/** The header that names a request; the lines of the log about it have the same as `reqId`. */
export const requestIdHeader = 'x-request-id'

/** Always our own: one that a caller sends could be made to look like another request's. */
export function newRequestId (): string {
  return randomUUID()
}

/** Names each answer, also those that Fastify doesn't write itself, such as event streams. */
export const requestIds = fp(async (app: FastifyInstance) => {
  app.addHook('onRequest', async (request, reply) => { nameAnswer(reply.raw, request.id) })
}, { name: 'request-ids' })

/** For answers that are made before the hooks run, too. */
export function nameAnswer (response: ServerResponse, id: string): void {
  if (!response.headersSent) response.setHeader(requestIdHeader, id)
}
