import type { FastifyRequest } from 'fastify'

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i

/** Whether a request is for a name that is this machine's own: a site may give itself one that leads here (fault 40). */
export function isForLoopback ({ host }: FastifyRequest): boolean {
  return loopback.test(host)
}

/** Whether an `Origin` header names the service that the request is for. */
export function isOwnOrigin (origin: string, { host }: FastifyRequest): boolean {
  return URL.canParse(origin) && new URL(origin).host === host
}
