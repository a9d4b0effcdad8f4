import { readEgressRule } from '../outgoing/egress-rules.ts'
import { boundHostsRule, isRecord, asError, isKeyName, isQueueName, isTenantName, keyNameRule, limits, permissions, roles, tenantNamePattern, type Permission, type Role } from '@toolyard/contract/terms'
import { splitList } from './variable.ts'

/** An API key as configured. The name appears in logs and job data, the key never does. */
export interface ApiKey {
  name: string
  key: string
  role: Role
  /** Who the key belongs to; undefined for the operator's keys, which see everything. */
  tenant: string | undefined
  /** Queues that the key may use; undefined means all of them. */
  queueAllowlist: readonly string[] | undefined
  /** Permissions that a tool may hold which the key lists or calls; undefined means all of them. */
  permissions: readonly Permission[] | undefined
  /** Namespaces whose tools the key may list or call; undefined means all of them. */
  namespaces?: readonly string[] | undefined
  /** Hosts that tools may reach which the key lists or calls; undefined means all of them. */
  hosts?: readonly string[] | undefined
  /** Whether the key may open event streams. */
  sse: boolean
}

/** All clients send these alike in an HTTP header. */
export const sendableKey = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/
const known = new Set(['name', 'key', 'role', 'tenant', 'sse', 'queue_allowlist', 'permissions', 'namespaces', 'hosts'])

/**
 * Reads `API_KEYS_JSON`: a JSON array of `{name?, key, role, tenant?, queue_allowlist?, permissions?, namespaces?, hosts?, sse?}`.
 * A key without a role is refused: the original made it an admin.
 *
 * @throws Error that names the entry and what is wrong with it.
 */
export function parseApiKeys (json: string): ApiKey[] {
  let entries: unknown
  try {
    entries = JSON.parse(json)
  } catch (error) {
    throw new Error(`[auth] invalid API_KEYS_JSON JSON: ${withoutExcerpt(asError(error).message)}`)
  }
  if (!Array.isArray(entries)) throw new Error('API_KEYS_JSON must be a JSON array')
  const keys = entries.map((entry, index) => parseApiKey(entry, index))
  refuseDuplicates(keys)
  return keys
}

function parseApiKey (entry: unknown, index: number): ApiKey {
  const at = `api.auth.keys[${index}]`
  if (!isRecord(entry)) throw new Error(`${at} must be an object`)
  const { name, key, role, tenant, sse, queue_allowlist: queues, permissions: allowed, namespaces, hosts } = entry
  const unknown = Object.keys(entry).find(field => !known.has(field))
  if (unknown !== undefined) throw new Error(`${at} has an unknown field '${unknown}' (known: ${[...known].join(', ')})`)
  if (typeof key !== 'string' || key.trim() === '') throw new Error(`${at}.key is required`)
  if (!sendableKey.test(key.trim())) throw new Error(`${at}.key must be of printable ASCII characters: no other arrives whole in a header`)
  if (role === undefined || role === null) throw new Error(`${at}.role is required: one of admin, approver, read`)
  const given = roles.find(each => each === role)
  if (given === undefined) throw new Error(`${at}.role must be one of: admin, approver, read`)
  if (name !== undefined && !isKeyName(name)) throw new Error(`${at}.name ${keyNameRule}`)
  if (tenant !== undefined && tenant !== null && !isTenantName(tenant)) throw new Error(`${at}.tenant must match ${tenantNamePattern}`)
  if (sse !== undefined && typeof sse !== 'boolean') throw new Error(`${at}.sse must be a boolean`)
  return {
    name: name ?? `key-${index + 1}`,
    key: key.trim(),
    role: given,
    tenant: tenant ?? undefined,
    sse: sse ?? true,
    queueAllowlist: parseQueues(queues, at),
    permissions: parsePermissions(allowed, at),
    namespaces: parseNamespaces(namespaces, at),
    hosts: hosts === undefined || hosts === null ? undefined : parseHosts(hosts, `${at}.hosts`)
  }
}

function parseQueues (value: unknown, at: string): string[] | undefined {
  if (value === undefined || value === null) return undefined
  const queues: unknown = typeof value === 'string' ? splitList(value) : value
  if (!Array.isArray(queues)) throw new Error(`${at}.queue_allowlist must be an array of queue names`)
  return queues.map((queue: unknown) => {
    if (typeof queue === 'string' && isQueueName(queue)) return queue
    throw new Error(`${at}.queue_allowlist has invalid queue ${JSON.stringify(queue).replaceAll('"', "'")}`)
  })
}

function parsePermissions (value: unknown, at: string): Permission[] | undefined {
  if (value === undefined || value === null) return undefined
  const found = Array.isArray(value) ? value.map(item => permissions.find(permission => permission === item)) : [undefined]
  if (found.includes(undefined)) throw new Error(`${at}.permissions must be an array of ${permissions.join(', ')}`)
  return found.filter(permission => permission !== undefined)
}

function parseNamespaces (value: unknown, at: string): string[] | undefined {
  if (value === undefined || value === null) return undefined
  const { keyNamespaces, namespaceChars } = limits
  const isName = (name: unknown): name is string => typeof name === 'string' && name !== '' && name.length <= namespaceChars
  if (Array.isArray(value) && value.length <= keyNamespaces && value.every(isName)) return value
  throw new Error(`${at}.namespaces must be an array of at most ${keyNamespaces} names of 1 to ${namespaceChars} characters`)
}

/** @throws Error that says what is wrong, after its place. */
export function parseHosts (value: unknown, at: string): string[] {
  const isHost = (host: unknown): host is string => typeof host === 'string' && readEgressRule(host) !== undefined
  if (Array.isArray(value) && value.length <= limits.boundHosts && value.every(isHost)) return value
  throw new Error(`${at} ${boundHostsRule}`)
}

function refuseDuplicates (keys: ApiKey[]): void {
  for (const [index, key] of keys.entries()) {
    if (keys.findIndex(other => other.key === key.key) < index) throw new Error(`api.auth.keys[${index}].key is used twice`)
    if (keys.findIndex(other => other.name === key.name) < index) throw new Error(`api.auth.keys[${index}].name '${key.name}' is used twice`)
  }
}

/** Node quotes the text around a JSON error, which here may hold a key. */
function withoutExcerpt (message: string): string {
  return message.replace(/,? ?(?:"[\s\S]*"|\.\.\.[\s\S]*) is not valid JSON$/, '')
}
