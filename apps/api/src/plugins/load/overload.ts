import { HttpError } from '@toolyard/contract'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { EventLoopWatch } from './event-loop-watch.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route makes work for this process: it is refused while the process has more than it can do. */
    makesWork?: boolean
  }
}

/**
 * While the process is overloaded, answers 503 with `Retry-After` to requests of routes that make work. It goes on to
 * serve what is cheap, and what ends work, such as a cancel.
 */
export const overload = fp<{ eventLoop: EventLoopWatch }>(async (app: FastifyInstance, { eventLoop }) => {
  app.addHook('onRequest', async request => {
    if (!eventLoop.overloaded || request.routeOptions.config.makesWork !== true) return
    throw new HttpError('UNAVAILABLE', 'This API process has more to do than it can; try again')
  })
}, { name: 'overload' })
