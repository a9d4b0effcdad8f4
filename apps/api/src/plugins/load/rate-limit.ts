import { HttpError } from '@toolyard/contract'
import type { RateLimit } from '@toolyard/store'
import type { FastifyInstance, FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import { ownerKind, type Principal } from '../../access/principal.ts'

/** Answers 429 with `Retry-After` to a key, or a tenant, that makes more requests than it may, before the body is read. */
export const rateLimit = fp<{ limit: RateLimit }>(async (app: FastifyInstance, { limit }) => {
  app.addHook('onRequest', async (request, reply) => {
    // Who is about to log in has no key yet. Attempts to log in have limits of their own.
    if (request.principal !== null) await countRequest(limit, request.principal, reply)
  })
}, { name: 'rate-limit', dependencies: ['auth'] })

async function countRequest (limit: RateLimit, principal: Principal, reply: FastifyReply): Promise<void> {
  const waitMs = await limit.count({ tenant: principal.tenant, keyName: principal.name })
  if (waitMs === 0) return
  const seconds = Math.ceil(waitMs / 1_000)
  void reply.header('retry-after', seconds)
  throw new HttpError('RATE_LIMITED', `This ${ownerKind(principal)} makes more requests than it may in a minute; try again in ${seconds} s`)
}
