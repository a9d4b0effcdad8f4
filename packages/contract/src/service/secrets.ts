import type { Static } from 'typebox'
import { Compile } from 'typebox/schema'
import { unknownField, wrongField } from '../value/fields.ts'
import { Type } from '../value/type.ts'
import { checkObject, type HttpError } from '../terms/errors.ts'
import { tenantNamePattern } from '../terms/limits.ts'
import { secretNamePattern } from '../terms/secret-variables.ts'

export const SecretName = Type.String({ pattern: secretNamePattern, description: 'What manifests call the secret.' })
const Scope = Type.Enum(['operator', 'tenant', 'key'], {
  description: 'Whose it is. A call uses that of its key, else of its tenant, else the operator\'s. Default: tenant for a key of one, else operator; key is the key that asks.'
})
const Tenant = Type.String({ pattern: tenantNamePattern, description: 'Whose it is, beside the scope tenant, where the operator\'s key asks.' })

const mostChars = 65_536
const Value = Type.String({ minLength: 1, maxLength: mostChars, description: 'It is sealed, and never read back.' })

/** `PUT /v1/secrets/:name`. */
export const SecretRequest = Type.Object({
  value: Value, scope: Type.Optional(Scope), tenant: Type.Optional(Tenant)
}, { additionalProperties: false })

const fields = [
  ['value', true, Compile(Value), `'value' must be a text of 1 to ${mostChars} characters`],
  ['scope', false, Compile(Scope), "'scope' must be operator, tenant or key"],
  ['tenant', false, Compile(Tenant), `'tenant' must match ${tenantNamePattern}`]
] as const

/** Checks the body of `PUT /v1/secrets/:name`. An unknown field may be a misspelt `scope`: left out, the secret would be everybody's. */
export function checkSecretRequest (body: unknown): HttpError | undefined {
  return checkObject(body, object => wrongField(object, fields) ?? unknownField(object, SecretRequest))
}

/** Which of several secrets of one name is meant. */
export const SecretPlace = Type.Object({ scope: Type.Optional(Scope), tenant: Type.Optional(Tenant) }, { additionalProperties: false })
export type SecretPlace = Static<typeof SecretPlace>

/** A secret as the API shows it: never its value. Times are ISO 8601 in UTC. */
export const SecretView = Type.Object({
  name: Type.String(),
  scope: Scope,
  tenant: Type.Union([Type.String(), Type.Null()]),
  key: Type.Union([Type.String(), Type.Null()], { description: 'Name of the API key whose it is.' }),
  stored_at: Type.String(),
  last_used_at: Type.Union([Type.String(), Type.Null()])
})
export type SecretView = Static<typeof SecretView>

export const SecretAnswer = Type.Object({ ok: Type.Literal(true), name: Type.String() })
export const SecretList = Type.Object({ ok: Type.Literal(true), secrets: Type.Array(SecretView), count: Type.Integer() })
export const SecretRotation = Type.Object({
  ok: Type.Literal(true),
  sealed: Type.Integer({ description: 'Secrets that SECRETS_KEY has sealed now, and another key before.' }),
  lost: Type.Integer({ description: 'Secrets that neither key opens: store them again.' })
})
