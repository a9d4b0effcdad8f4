import type { Static } from 'typebox'
import { Type } from '../value/type.ts'
import { Compile } from 'typebox/schema'
import { SessionId } from '../calls/agent-tools.ts'
import { invalid, type HttpError } from '../terms/errors.ts'
import { foreignCursor } from '../terms/errors.ts'
import { isTenantName, limits, templateNamePattern } from '../terms/limits.ts'
import { isAbsent, unknownField, unknownParameter } from '../value/fields.ts'
import { isRecord } from '../value/record.ts'

const { ttlSec, quotaBytes } = limits.session

const TtlSec = Type.Integer({
  minimum: ttlSec.min, maximum: ttlSec.max, description: 'Seconds without a call after which the session is removed; SESSION_TTL_SEC when absent.'
})
const QuotaBytes = Type.Integer({
  minimum: quotaBytes.min, maximum: quotaBytes.max, description: 'What its files may take; SESSION_QUOTA_BYTES when absent, and at most.'
})
const From = Type.String({ pattern: templateNamePattern, description: 'A directory of SESSION_TEMPLATES_DIR that its files begin as.' })

/** `POST /v1/sessions`. Null means the default. */
export const NewSessionRequest = Type.Object({
  ttl_sec: Type.Optional(Type.Union([TtlSec, Type.Null()])),
  quota_bytes: Type.Optional(Type.Union([QuotaBytes, Type.Null()])),
  from: Type.Optional(Type.Union([From, Type.Null()]))
}, { additionalProperties: false })
export type NewSessionRequest = Static<typeof NewSessionRequest>

/** A session as the API shows it. Times are ISO 8601 in UTC. */
export const SessionView = Type.Object({
  id: Type.String(),
  tenant: Type.Union([Type.String(), Type.Null()]),
  key: Type.String({ description: 'The name of the key that made it.' }),
  state: Type.Enum(['open', 'removing'], { description: 'One that is being removed takes no calls, and is gone soon.' }),
  from: Type.Union([Type.String(), Type.Null()]),
  ttl_sec: Type.Integer(),
  quota_bytes: Type.Integer(),
  used_bytes: Type.Union([Type.Integer(), Type.Null()], { description: 'What its files took when they were last counted; null before.' }),
  created_at: Type.String(),
  last_used_at: Type.String(),
  expires_at: Type.String({ description: 'When it is removed unless it is used before.' })
})
export type SessionView = Static<typeof SessionView>

/** The answer of the routes that make, read and remove a session. */
export const SessionResponse = Type.Object({ ok: Type.Literal(true), session: SessionView })

/** `GET /v1/sessions`: newest first. `next_cursor` is null when there are no more. */
export const SessionList = Type.Object({
  ok: Type.Literal(true),
  sessions: Type.Array(SessionView),
  count: Type.Integer(),
  next_cursor: Type.Union([Type.String(), Type.Null()])
})

export interface SessionListQuery {
  /** Sessions of this tenant alone. */
  tenant: string | undefined
  limit: number
  /** The last id of the page before. */
  cursor: string | undefined
}

const fields = [
  ['ttl_sec', Compile(TtlSec), `'ttl_sec' must be integer ${ttlSec.min}..${ttlSec.max}`],
  ['quota_bytes', Compile(QuotaBytes), `'quota_bytes' must be integer ${quotaBytes.min}..${quotaBytes.max}`],
  ['from', Compile(From), `'from' must match ${templateNamePattern}`]
] as const
const sessionId = Compile(SessionId)

/**
 * Checks the body of `POST /v1/sessions`; none is an empty one.
 *
 * @returns undefined for a good body, else `VALIDATION_ERROR` with the text of the first error.
 */
export function checkNewSession (body: unknown): HttpError | undefined {
  if (isAbsent(body)) return undefined
  if (!isRecord(body)) return invalid('Request body must be an object')
  const wrong = fields.find(([name, check]) => !isAbsent(body[name]) && !check.Check(body[name]))
  const error = wrong?.[2] ?? unknownField(body, NewSessionRequest)
  return error === undefined ? undefined : invalid(error)
}

const known = ['tenant', 'limit', 'cursor']

/**
 * Reads the query string of `GET /v1/sessions`, which has each parameter at most once.
 *
 * @throws HttpError `VALIDATION_ERROR` for anything that isn't as documented.
 */
export function parseSessionListQuery (query: Readonly<Record<string, unknown>>): SessionListQuery {
  const unknown = unknownParameter(query, known)
  if (unknown !== undefined) throw invalid(unknown)
  const { tenant, limit = String(limits.jobPage.default), cursor } = query
  const size = typeof limit === 'string' && /^\d{1,4}$/.test(limit) ? Number(limit) : 0
  if (size < limits.jobPage.min || size > limits.jobPage.max) throw invalid(`'limit' must be an integer ${limits.jobPage.min}..${limits.jobPage.max}`)
  if (tenant !== undefined && !isTenantName(tenant)) throw invalid("'tenant' must be the name of a tenant")
  if (cursor !== undefined && !sessionId.Check(cursor)) throw invalid(foreignCursor)
  return { tenant, limit: size, cursor }
}
