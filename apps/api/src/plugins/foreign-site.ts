import { HttpError } from '@toolyard/contract'
import type { FastifyRequest } from 'fastify'
import { isForLoopback, isOwnOrigin } from './site.ts'

/**
 * Refuses what a page of another site asks a browser on this machine for, where no key is needed (fault 40): a name
 * that isn't this machine's own (a site may give itself one that leads here), and an origin that isn't this service's.
 * Where a key is needed, no site can have a browser send one.
 *
 * @throws HttpError `FORBIDDEN`
 */
export function refuseForeignSite (request: FastifyRequest): void {
  const { origin } = request.headers
  if (!isForLoopback(request)) throw new HttpError('FORBIDDEN', 'Without authentication the service answers to loopback names alone, such as localhost.')
  if (origin !== undefined && !isOwnOrigin(origin, request)) throw new HttpError('FORBIDDEN', 'Without authentication no other site may use the service.')
}
