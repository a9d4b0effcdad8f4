import { HttpError } from '@toolyard/contract'
import type { FastifyRequest } from 'fastify'
import { isForLoopback, isOwnOrigin } from '../plugins/site.ts'

/**
 * Refuses a change that a page of another site asks a browser for (fault 41). A browser says where a request comes
 * from in `Sec-Fetch-Site`, over https and on loopback, and else in `Origin`; one that says neither makes no changes.
 *
 * @throws HttpError `FORBIDDEN`
 */
export function refuseForeignOrigin (request: FastifyRequest): void {
  const { origin, 'sec-fetch-site': site } = request.headers
  const isOwn = site === undefined ? origin !== undefined && isOwnOrigin(origin, request) : site === 'same-origin'
  if (!isOwn) throw new HttpError('FORBIDDEN', 'This request does not come from the dashboard itself. Behind a reverse proxy, have it forward the Host header.')
}

/**
 * Refuses a name that isn't this machine's own, where nobody has to log in: a site could give itself a name that leads
 * here, and be the same site then (fault 40).
 *
 * @throws HttpError `FORBIDDEN`
 */
export function refuseForeignHost (request: FastifyRequest): void {
  if (!isForLoopback(request)) throw new HttpError('FORBIDDEN', 'Without authentication the dashboard is served on loopback names alone, such as localhost.')
}
