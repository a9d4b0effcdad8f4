import { HttpError, isRecord, unknownParameter } from '@toolyard/contract'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route checks its query by itself, and refuses what it doesn't know. */
    checksQuery?: boolean
  }
}

/**
 * A parameter that a route doesn't know is a 400: what was meant to narrow an answer, or a change, isn't ignored. Known are
 * those of the route's `querystring`.
 */
export const knownQuery = fp(async (app: FastifyInstance) => {
  app.addHook('preValidation', async ({ query, routeOptions: { schema, config } }) => {
    if (config.checksQuery === true || !isRecord(query)) return
    const { querystring } = schema ?? {}
    const properties = isRecord(querystring) ? querystring['properties'] : undefined
    const unknown = unknownParameter(query, Object.keys(properties ?? {}))
    if (unknown !== undefined) throw new HttpError('VALIDATION_ERROR', unknown)
  })
}, { name: 'known-query', dependencies: ['auth'] })
