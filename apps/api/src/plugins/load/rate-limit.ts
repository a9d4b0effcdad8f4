import { HttpError } from '@toolyard/contract'
import type { RateLimit } from '@toolyard/store'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { principalOf } from '../../access/principal.ts'

/** Answers 429 with `Retry-After` to a key, or a tenant, that makes more requests than it may, before the body is read. */
export const rateLimit = fp<{ limit: RateLimit }>(async (app: FastifyInstance, { limit }) => {
  app.addHook('onRequest', async (request, reply) => {
    // Who is about to log in has no key yet. Attempts to log in have limits of their own.
    if (request.principal !== null) await countRequests(limit, 1, request, reply)
  })
}, { name: 'rate-limit', dependencies: ['auth'] })

/** Counts requests of whoever sent this one, and refuses it where they are more than may be made. */
export async function countRequests (limit: RateLimit, requests: number, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { name: keyName, tenant } = principalOf(request)
  const waitMs = await limit.count({ tenant, keyName }, requests)
  if (waitMs === 0) return
  const seconds = Math.ceil(waitMs / 1_000)
  void reply.header('retry-after', seconds)
  throw new HttpError('RATE_LIMITED', `This ${tenant === undefined ? 'key' : 'tenant'} makes more requests than it may in a minute; try again in ${seconds} s`)
}
