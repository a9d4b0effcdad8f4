import { HttpError, type Permission } from '@toolyard/contract'
import type { ApiKey, Role } from '@toolyard/runtime'
import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { refuseForeignSite } from './foreign-site.ts'
import { keyOf, unauthorizedText } from './request-key.ts'
import type { TicketOffice } from '../streams/ticket-office.ts'

/** Who a request comes from. */
export interface Principal {
  name: string
  role: Role
  /** Queues that may be used; undefined means all. */
  queueAllowlist: readonly string[] | undefined
  /** Permissions that tools may hold; undefined means all. */
  permissions: readonly Permission[] | undefined
  /** May open event streams. */
  sse: boolean
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on every route under /v1. */
    principal: Principal | null
  }
  interface FastifyContextConfig {
    /** The role that the route needs, where its method doesn't tell: reading is for both, everything else for admins. */
    role?: Role
    /** The route is an event stream of the job `:id`: a stream ticket opens it as well as a key. */
    streamTicket?: boolean
  }
}

export interface AuthOptions {
  keys: readonly ApiKey[]
  disabled: boolean
  tickets: TicketOffice
}

/** Who a request comes from where there are no keys. */
export const nobody: Principal = { name: 'auth-disabled', role: 'admin', queueAllowlist: undefined, permissions: undefined, sse: true }
const reading = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Checks the key, or a stream's ticket, before the body is read (R1 to R3, RC1, RC2, RC5, RC27, X28). */
export const auth = fp<AuthOptions>(async (app: FastifyInstance, options) => {
  const findPrincipal = principalFinder(options.keys)
  app.decorateRequest('principal', null)
  app.addHook('onRequest', async (request, reply) => {
    if (options.disabled) {
      refuseForeignSite(request)
      request.principal = nobody
      return
    }
    if (options.keys.length === 0) {
      throw new HttpError('AUTH_NOT_CONFIGURED', 'API auth is not configured. Set API_KEY/API_KEYS_JSON or enable API_AUTH_DISABLED=1 for local development.')
    }
    const { role, streamTicket } = request.routeOptions.config
    const key = keyOf(request)
    const principal = key !== undefined
      ? findPrincipal(key)
      : streamTicket === true ? await options.tickets.principalOf(request) : undefined
    if (principal === undefined) {
      void reply.header('www-authenticate', 'Bearer')
      throw new HttpError('UNAUTHORIZED', unauthorizedText)
    }
    request.principal = principal
    if (principal.role !== 'admin' && (role ?? (reading.has(request.method) ? 'read' : 'admin')) === 'admin') {
      throw new HttpError('FORBIDDEN', 'This operation requires an admin API key.')
    }
  })
}, { name: 'auth' })

/** Finds out whose key a text is; undefined for nobody's. */
export function principalFinder (keys: readonly ApiKey[]): (key: string) => Principal | undefined {
  // Looked up by digest: the time that it takes tells nothing of the keys.
  const principals = new Map(keys.map(key => [keyDigest(key.key), principalOfKey(key)]))
  return key => principals.get(keyDigest(key))
}

/** The principal of a request under /v1. */
export function principalOf (request: { principal: Principal | null }): Principal {
  if (request.principal === null) throw new HttpError('UNAUTHORIZED', unauthorizedText)
  return request.principal
}

/** Refuses a key that may not open event streams (RC27). */
export function requireSse (principal: Principal): void {
  if (!principal.sse) throw new HttpError('FORBIDDEN', 'This API key is not allowed to access SSE streams.')
}

/** What a key may do. */
export function principalOfKey ({ name, role, queueAllowlist, permissions, sse }: ApiKey): Principal {
  return { name, role, queueAllowlist, permissions, sse }
}

function keyDigest (key: string): string {
  return createHash('sha256').update(key).digest('base64')
}
