import { HttpError } from '@toolyard/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { KeyRing } from '../access/key-ring.ts'
import { nobody, requireOperator, type Principal } from '../access/principal.ts'
import { keyOf } from '../access/request-key.ts'
import type { Logins } from '../access/logins.ts'
import { refuseForeignHost, refuseForeignOrigin } from '../plugins/foreign-site.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route is for those who haven't logged in, too. */
    withoutLogin?: boolean
    /** The route is a page: who hasn't logged in is sent to where one does. */
    page?: boolean
  }
}

const reading = new Set(['GET', 'HEAD', 'OPTIONS'])

export interface GuardOptions {
  keys: KeyRing
  /** Every request counts as an admin's. */
  authDisabled: boolean
  logins: Logins
  /** Where one logs in. */
  loginPath: string
}

/** Lets admins into the dashboard, by their session or their key, and nobody make changes from elsewhere (fault 40, fault 41). */
export function createGuard (
  { keys, authDisabled, logins, loginPath }: GuardOptions
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined> {
  async function identify (request: FastifyRequest): Promise<Principal | undefined> {
    if (authDisabled) {
      refuseForeignHost(request)
      return nobody
    }
    const key = keyOf(request)
    if (key !== undefined) return await keys.find(key)
    request.login = await logins.find(request.headers.cookie) ?? null
    return request.login?.principal
  }

  return async (request, reply) => {
    if (!authDisabled && keys.isEmpty) throw new HttpError('AUTH_NOT_CONFIGURED', 'API auth is not configured. Set API_KEY/API_KEYS_JSON.')
    // Another site can't have a browser send a key in a header.
    if (!reading.has(request.method) && keyOf(request) === undefined) refuseForeignOrigin(request)
    const principal = await identify(request)
    const { withoutLogin, page } = request.routeOptions.config
    request.principal = principal ?? null
    if (withoutLogin === true) return undefined
    if (principal === undefined) {
      if (page === true && keyOf(request) === undefined) return await reply.redirect(loginPath, 303)
      throw new HttpError('UNAUTHORIZED', 'Your session is over: load the page again and log in.')
    }
    if (principal.role !== 'admin') throw new HttpError('FORBIDDEN', 'This operation requires an admin API key.')
    requireOperator(principal)
    return undefined
  }
}
