import type { FastifyInstance, RouteOptions } from 'fastify'

export interface ListedRoute {
  method: string
  /** With the prefix, and parameters as `:name`. */
  url: string
  schema: NonNullable<RouteOptions['schema']>
  config: NonNullable<RouteOptions['config']>
}

/** The routes of an app that are registered after this; the answers to `HEAD` that Fastify adds are left out. */
export function listRoutes (app: FastifyInstance): readonly ListedRoute[] {
  const routes: ListedRoute[] = []
  app.addHook('onRoute', ({ method, url, schema = {}, config = {} }) => {
    for (const each of [method].flat()) if (each !== 'HEAD') routes.push({ method: each, url, schema, config })
  })
  return routes
}
