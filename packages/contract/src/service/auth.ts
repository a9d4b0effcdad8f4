import type { Static } from 'typebox'
import { Type } from '../value/type.ts'
import { checkObject, type HttpError } from '../terms/errors.ts'
import { roles } from '../terms/limits.ts'
import { unknownField } from '../value/fields.ts'

/** `GET /v1/auth/whoami`. `queue_allowlist` is null for a key that may use every queue. */
export const WhoAmI = Type.Object({
  ok: Type.Literal(true),
  auth: Type.Object({
    name: Type.String(),
    role: Type.Enum([...roles]),
    sse: Type.Boolean(),
    can_write: Type.Boolean(),
    can_approve: Type.Boolean({ description: 'Whether the key may decide about held calls.' }),
    queue_allowlist: Type.Union([Type.Array(Type.String()), Type.Null()]),
    namespaces: Type.Optional(Type.Array(Type.String(), { description: 'The only namespaces whose tools the key may use; absent: all.' })),
    hosts: Type.Optional(Type.Array(Type.String(), { description: 'The only hosts that tools may reach for the key; absent: all that the service allows.' })),
    tenant: Type.Optional(Type.String({ description: 'Absent for a key without a tenant, which sees everything.' }))
  })
})
export type WhoAmI = Static<typeof WhoAmI>

/** `POST /v1/auth/login`: a person logs in to the console with an API key. */
export const LoginRequest = Type.Object({ key: Type.String({ description: 'An API key.' }) }, { additionalProperties: false })
export type LoginRequest = Static<typeof LoginRequest>

/** The answer of `POST /v1/auth/login`; the login itself is in the cookie. */
export const LoginResponse = Type.Object({ ok: Type.Literal(true), name: Type.String({ description: 'Name of the key.' }) })

export const LogoutResponse = Type.Object({ ok: Type.Literal(true) })

export function checkLogin (body: unknown): HttpError | undefined {
  return checkObject(body, object => typeof object['key'] === 'string' ? unknownField(object, LoginRequest) : "'key' must be a string")
}
