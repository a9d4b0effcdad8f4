import { consoleHeader, consoleHeaderFor, HttpError, type Role } from '@toolyard/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { TokenRefusedError, type AccessTokens } from '../access/access-tokens.ts'
import type { KeyRing } from '../access/key-ring.ts'
import type { Login, Logins } from '../access/logins.ts'
import { hasRole, nobody, type Principal } from '../access/principal.ts'
import { refuseForeignOrigin, refuseForeignSite } from './foreign-site.ts'
import { keyOf, unauthorizedText } from '../access/request-key.ts'
import type { StreamTicketIssuer } from '../access/stream-ticket-issuer.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on every route under /v1; null also where no key came, and none is needed. */
    principal: Principal | null
    /** The login that the request came with, where that says who asks. */
    login: Login | null
  }
  interface FastifyContextConfig {
    /** The role that the route needs, where its method doesn't tell: reading is for all, everything else for admins. */
    role?: Role
    /** The route is an event stream of the job `:id`: a stream ticket opens it as well as a key. */
    streamTicket?: boolean
    /** The route is for those without a key, too; a key that comes all the same must be a known one. */
    keyOptional?: boolean
  }
}

interface AuthOptions {
  keys: KeyRing
  disabled: boolean
  tickets: StreamTicketIssuer
  /** Whose access tokens count as well; undefined where keys alone do. */
  tokens?: AccessTokens | undefined
  /** Whose cookies count as well, for requests of the console; undefined where keys alone do. */
  logins?: Logins | undefined
}

const reading = new Set(['GET', 'HEAD', 'OPTIONS'])
/** A body that takes longer is late, in milliseconds: what was checked before it may not hold any more. */
const lateMs = 100

/** Checks the key, or a stream's ticket, before the body is read; and again after one that came late. */
export const auth = fp<AuthOptions>(async (app: FastifyInstance, options) => {
  app.decorateRequest('principal', null)
  app.decorateRequest('login', null)
  app.addHook('onRequest', check)
  app.addHook('preValidation', async (request, reply) => {
    // Who sends the last byte of a body when the key was revoked would still be served.
    if (reply.elapsedTime > lateMs && !reading.has(request.method)) await check(request, reply)
  })

  async function check (request: FastifyRequest, reply: FastifyReply): Promise<void> {
    // An answer to one key is for nobody else. Routes whose answers have tags say otherwise.
    void reply.header('cache-control', 'no-store')
    if (options.disabled) {
      refuseForeignSite(request)
      request.principal = nobody
      return
    }
    const { role, streamTicket, keyOptional } = request.routeOptions.config
    const key = keyOf(request)
    if (key === undefined && keyOptional === true) return
    const { tokens } = options
    if (options.keys.isEmpty && tokens === undefined) {
      throw new HttpError('AUTH_NOT_CONFIGURED', 'API auth is not configured. Set API_KEY/API_KEYS_JSON or enable API_AUTH_DISABLED=1 for local development.')
    }
    const principal = key !== undefined
      ? await options.keys.find(key) ?? await principalOfToken(request, reply, tokens)
      : (streamTicket === true ? await options.tickets.principalOf(request) : undefined) ?? await principalOfLogin(request, options.logins)
    if (principal === undefined) {
      void reply.header('www-authenticate', tokens?.challenge() ?? 'Bearer')
      throw new HttpError('UNAUTHORIZED', tokens === undefined ? unauthorizedText(key) : `${unauthorizedText(key)}, or an access token`)
    }
    request.principal = principal
    const needed = role ?? (reading.has(request.method) ? 'read' : 'admin')
    if (!hasRole(principal, needed)) throw new HttpError('FORBIDDEN', `This operation requires an ${needed} API key.`)
  }
}, { name: 'auth' })

async function principalOfToken (
  request: FastifyRequest, reply: FastifyReply, tokens: AccessTokens | undefined
): Promise<Principal | undefined> {
  if (tokens === undefined || request.headers['x-api-key'] !== undefined) return undefined
  try {
    return await tokens.principalOf(keyOf(request) ?? '')
  } catch (error) {
    if (error instanceof TokenRefusedError) void reply.header('www-authenticate', tokens.challenge(error))
    throw error
  }
}

/**
 * Who has logged in to the console. Its cookie counts only beside a header that forms, links and other sites can't send, so that a
 * page of another site makes no requests in a person's name, and a file that a tool has written opens nothing.
 */
async function principalOfLogin (request: FastifyRequest, logins: Logins | undefined): Promise<Principal | undefined> {
  const { cookie, [consoleHeader]: page } = request.headers
  if (logins === undefined || page === undefined) return undefined
  if (!reading.has(request.method) || request.headers['sec-fetch-site'] !== undefined) refuseForeignOrigin(request)
  request.login = await logins.find(cookie) ?? null
  if (request.login === null) return undefined
  if (![consoleHeaderFor(undefined), consoleHeaderFor(request.login.principal.name)].includes(String(page))) {
    throw new HttpError('UNAUTHORIZED', 'This page is for another key than the one that its browser has logged in with since: load it again.')
  }
  return { ...request.login.principal, isLoggedIn: async () => await logins.find(cookie) !== undefined }
}
