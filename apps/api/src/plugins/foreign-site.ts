import { HttpError } from '@toolyard/contract'
import type { FastifyRequest } from 'fastify'
import { isForLoopback, isOwnOrigin } from './site.ts'

/**
 * Refuses what a page of another site asks a browser on this machine for, where no key is needed: a name
 * that isn't this machine's own (a site may give itself one that leads here), an origin that isn't this service's, and what a
 * browser says comes from another site.
 * Where a key is needed, no site can have a browser send one.
 *
 * @throws HttpError `FORBIDDEN`
 */
export function refuseForeignSite (request: FastifyRequest): void {
  const { origin, 'sec-fetch-site': site = 'none' } = request.headers
  if (!isForLoopback(request)) throw new HttpError('FORBIDDEN', 'Without authentication the service answers to loopback names alone, such as localhost.')
  if (origin !== undefined && !isOwnOrigin(origin, request)) throw new HttpError('FORBIDDEN', 'Without authentication no other site may use the service.')
  // A picture or a script that a page loads has no origin; another port of this machine is the same site.
  if (site !== 'none' && site !== 'same-origin') throw new HttpError('FORBIDDEN', 'Without authentication no other site may use the service.')
}

/**
 * Refuses a change that a page of another site asks a browser for, where a cookie says who asks. A browser says where
 * a request comes from in `Sec-Fetch-Site`, over https and on loopback, and else in `Origin`; one that says neither makes no changes.
 *
 * @throws HttpError `FORBIDDEN`
 */
export function refuseForeignOrigin (request: FastifyRequest): void {
  const { origin, 'sec-fetch-site': site } = request.headers
  const isOwn = site === undefined ? origin !== undefined && isOwnOrigin(origin, request) : site === 'same-origin'
  if (!isOwn) throw new HttpError('FORBIDDEN', 'This request does not come from a page of the service itself. Behind a reverse proxy, have it forward the Host header.')
}

/**
 * Refuses a name that isn't this machine's own, where nobody has to log in: a site could give itself a name that leads
 * here, and be the same site then.
 *
 * @throws HttpError `FORBIDDEN`
 */
export function refuseForeignHost (request: FastifyRequest): void {
  if (!isForLoopback(request)) throw new HttpError('FORBIDDEN', 'Without authentication the dashboard is served on loopback names alone, such as localhost.')
}
