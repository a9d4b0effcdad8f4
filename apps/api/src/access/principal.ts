import { HttpError, roles, type Role } from '@toolyard/contract'
import { ownerOf, type JobScope } from '@toolyard/store'
import type { ApiKey } from '@toolyard/runtime'
import { unauthorizedText } from './request-key.ts'

/** Who a request comes from: what its key says, without the key. */
export interface Principal extends Omit<ApiKey, 'key'> {
  /** Changes with the key's value, and does not tell it; empty for who has no key. */
  proof: string
  /** When the access token ends that the request came with, in milliseconds since 1970. */
  endsAt?: number
  /** Whether the login is in force still that the request came with. Throws RedisUnavailableError. */
  isLoggedIn?: () => Promise<boolean>
}

/** Who a request comes from where there are no keys. */
export const nobody: Principal = { name: 'auth-disabled', role: 'admin', tenant: undefined, queueAllowlist: undefined, permissions: undefined, sse: true, proof: '' }

export function principalOf (request: { principal: Principal | null }): Principal {
  if (request.principal === null) throw new HttpError('UNAUTHORIZED', unauthorizedText(undefined))
  return request.principal
}

/** Each role may do what those before it may. */
export function hasRole ({ role }: Pick<Principal, 'role'>, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed)
}

/** Refuses a key that may not open event streams. */
export function requireSse (principal: Principal): void {
  if (!principal.sse) throw new HttpError('FORBIDDEN', 'This API key is not allowed to access SSE streams.')
}

export function scopeOf ({ queueAllowlist, tenant }: Principal): JobScope {
  return { queues: queueAllowlist, tenant }
}

/** Refuses a key that is bound in some way what concerns those that are not: it could undo what binds it. */
export function requireUnbound (principal: Principal, what: string): void {
  if (!isBound(principal)) return
  throw new HttpError('FORBIDDEN', `This API key is bound to queues, permissions, namespaces or hosts; ${what} for those that are not.`)
}

/** Whose work it is: that of its tenant, or of the key where it has none. Owners take turns, and have limits of their own. */
export function ownerOfKey ({ tenant, name }: Pick<Principal, 'tenant' | 'name'>): string {
  return ownerOf({ tenant, keyName: name })
}

/** What that owner is, in a message. */
export function ownerKind ({ tenant }: Pick<Principal, 'tenant'>): 'key' | 'tenant' {
  return tenant === undefined ? 'key' : 'tenant'
}

export function isBound ({ queueAllowlist, permissions, namespaces, hosts }: Principal): boolean {
  return [queueAllowlist, permissions, namespaces, hosts].some(bound => bound !== undefined)
}

/** Refuses a key that is bound to namespaces what reaches the tools of others too. */
export function requireAllNamespaces ({ namespaces }: Principal, what: string): void {
  if (namespaces !== undefined) throw new HttpError('FORBIDDEN', `This API key is bound to namespaces; ${what} for those that are not.`)
}

/** Refuses a key of a tenant what concerns all of them. */
export function requireOperator ({ tenant }: Principal): void {
  if (tenant !== undefined) throw new HttpError('FORBIDDEN', 'This operation requires an API key without a tenant.')
}
