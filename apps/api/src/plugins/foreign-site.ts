import { HttpError } from '@toolyard/contract'
import type { FastifyRequest } from 'fastify'

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i

/**
 * Refuses what a page of another site asks a browser on this machine for, where no key is needed (fault 40): a name
 * that isn't this machine's own (a site may give itself one that leads here), and an origin that isn't this service's.
 * Where a key is needed, no site can have a browser send one.
 *
 * @throws HttpError `FORBIDDEN`
 */
export function refuseForeignSite (request: FastifyRequest): void {
  const { origin } = request.headers
  if (!loopback.test(request.host)) throw new HttpError('FORBIDDEN', 'Without authentication the service answers to loopback names alone, such as localhost.')
  if (origin !== undefined && hostOf(origin) !== request.host) throw new HttpError('FORBIDDEN', 'Without authentication no other site may use the service.')
}

function hostOf (origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}
