import type { Static } from 'typebox'
import { Type } from '../value/type.ts'
import { Compile } from 'typebox/schema'
import { QueueName } from '../calls/agent-tools.ts'
import { checkObject, type HttpError } from '../terms/errors.ts'
import { boundHostsRule, isKeyName, roles, keyNamePattern, keyNameRule, limits, queueNamePattern, tenantNamePattern } from '../terms/limits.ts'
import { permissions } from '../terms/permissions.ts'
import { unknownField, wrongField } from '../value/fields.ts'

const Name = Type.String({ pattern: keyNamePattern, description: 'What logs and jobs call the key.' })
const Role = Type.Enum([...roles], { description: 'read looks, approver also decides about held calls, admin does everything.' })
const Tenant = Type.String({ pattern: tenantNamePattern, description: 'Who the key belongs to; without one it is the operator\'s.' })
const Queues = Type.Array(QueueName, { description: 'The only queues that the key may use.' })
const Permissions = Type.Array(Type.Enum([...permissions]), { description: 'The only permissions that tools may hold which the key uses.' })
const Namespaces = Type.Array(Type.String({ minLength: 1, maxLength: limits.namespaceChars }), {
  maxItems: limits.keyNamespaces, description: 'The only namespaces whose tools the key may use; it sees no others.'
})
const Hosts = Type.Array(Type.String({ minLength: 1, maxLength: 300 }), {
  maxItems: limits.boundHosts,
  description: 'The only hosts that tools may reach which the key uses, as in `network` of a manifest: api.example.com, *.example.com:443.'
})
const Sse = Type.Boolean({ description: 'Whether the key may open event streams; true when absent.' })
const ExpiresIn = Type.Integer({
  minimum: limits.keyExpirySec.min, maximum: limits.keyExpirySec.max, description: 'Seconds until the key is worth nothing; never when absent.'
})

/** `POST /v1/keys`. */
export const NewKeyRequest = Type.Object({
  name: Name,
  role: Role,
  tenant: Type.Optional(Tenant),
  queue_allowlist: Type.Optional(Queues),
  permissions: Type.Optional(Permissions),
  namespaces: Type.Optional(Namespaces),
  hosts: Type.Optional(Hosts),
  sse: Type.Optional(Sse),
  expires_in_sec: Type.Optional(ExpiresIn)
}, { additionalProperties: false })
export type NewKeyRequest = Static<typeof NewKeyRequest>

const Time = Type.Union([Type.String(), Type.Null()])

/** An API key as the API shows it: never its value. Times are ISO 8601 in UTC. */
export const KeyView = Type.Object({
  name: Type.String(),
  role: Role,
  tenant: Type.Union([Type.String(), Type.Null()]),
  queue_allowlist: Type.Union([Type.Array(Type.String()), Type.Null()]),
  permissions: Type.Union([Type.Array(Type.String()), Type.Null()]),
  namespaces: Type.Union([Type.Array(Type.String()), Type.Null()]),
  hosts: Type.Union([Type.Array(Type.String()), Type.Null()]),
  sse: Type.Boolean(),
  source: Type.Enum(['settings', 'redis'], { description: 'Keys of the settings are there as long as the settings name them.' }),
  created_at: Time,
  expires_at: Time,
  last_used_at: Type.Union([Type.String(), Type.Null()], { description: 'To the minute; null for a key that was never used, and for those of the settings.' })
})
export type KeyView = Static<typeof KeyView>

/** `GET /v1/keys`. */
export const KeyList = Type.Object({ ok: Type.Literal(true), keys: Type.Array(KeyView), count: Type.Integer() })

/** The answer of `POST /v1/keys`: the only one that has the key itself. */
export const NewKeyResponse = Type.Object({
  ok: Type.Literal(true),
  key: Type.Intersect([KeyView, Type.Object({ key: Type.String({ description: 'Shown once.' }) })])
})

export const RevokedKey = Type.Object({ ok: Type.Literal(true), name: Type.String() })

const fields = [
  ['name', true, { Check: isKeyName }, `'name' ${keyNameRule}`],
  ['role', true, Compile(Role), "'role' must be admin, approver or read"],
  ['tenant', false, Compile(Tenant), `'tenant' must match ${tenantNamePattern}`],
  ['queue_allowlist', false, Compile(Queues), `'queue_allowlist' must be an array of names that match ${queueNamePattern}`],
  ['permissions', false, Compile(Permissions), `'permissions' must be an array of ${permissions.join(', ')}`],
  ['namespaces', false, Compile(Namespaces), `'namespaces' must be an array of at most ${limits.keyNamespaces} names of 1 to ${limits.namespaceChars} characters`],
  ['hosts', false, Compile(Hosts), `'hosts' ${boundHostsRule}`],
  ['sse', false, Compile(Sse), "'sse' must be a boolean"],
  ['expires_in_sec', false, Compile(ExpiresIn), `'expires_in_sec' must be integer ${limits.keyExpirySec.min}..${limits.keyExpirySec.max}`]
] as const

export function checkNewKey (body: unknown): HttpError | undefined {
  return checkObject(body, object => wrongField(object, fields) ?? unknownField(object, NewKeyRequest))
}
