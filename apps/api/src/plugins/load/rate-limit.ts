import { HttpError } from '@toolyard/contract'
import type { RateLimit } from '@toolyard/queue'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { principalOf } from '../../access/principal.ts'

/** Answers 429 with `Retry-After` to a key, or a tenant, that makes more requests than it may, before the body is read. */
export const rateLimit = fp<{ limit: RateLimit }>(async (app: FastifyInstance, { limit }) => {
  app.addHook('onRequest', async (request, reply) => {
    const { name: keyName, tenant } = principalOf(request)
    const waitMs = await limit.count({ tenant, keyName })
    if (waitMs === 0) return
    const seconds = Math.ceil(waitMs / 1_000)
    void reply.header('retry-after', seconds)
    throw new HttpError('RATE_LIMITED', `This ${tenant === undefined ? 'key' : 'tenant'} makes more requests than it may in a minute; try again in ${seconds} s`)
  })
}, { name: 'rate-limit', dependencies: ['auth'] })
