import type { Static } from 'typebox'
import { Type } from '../value/type.ts'
import { Compile } from 'typebox/schema'
import { checkObject, type HttpError } from '../terms/errors.ts'
import { unknownField } from '../value/fields.ts'
import { limits } from '../terms/limits.ts'

/** A job type as the API shows it: what applies now, not only what was switched. */
export const JobTypeView = Type.Object({
  name: Type.String(),
  enabled: Type.Boolean(),
  handler: Type.String({ description: 'Which executor runs it, such as builtin:data.file_read (X23).' }),
  default_timeout_sec: Type.Number(),
  default_max_attempts: Type.Integer(),
  warm: Type.Optional(Type.Union([Type.Integer(), Type.Literal('auto')], { description: 'Processes that wait ready in each worker; present for commands that have some.' })),
  idempotent: Type.Optional(Type.Boolean({ description: 'Whether a run whose worker was lost is begun again; present when it was switched, else the manifest says.' }))
})
export type JobTypeView = Static<typeof JobTypeView>

/** `GET /v1/job-types`. */
export const JobTypeList = Type.Object({ ok: Type.Literal(true), types: Type.Array(JobTypeView), count: Type.Integer() })
export type JobTypeList = Static<typeof JobTypeList>

export const JobTypeResponse = Type.Object({ ok: Type.Literal(true), type: JobTypeView })

const Enabled = Type.Boolean()
const Idempotent = Type.Boolean()
const Warm = Type.Union([Type.Integer({ minimum: limits.warm.min, maximum: limits.warm.max }), Type.Literal('auto')])
const DefaultTimeoutSec = Type.Integer({ minimum: limits.jobTimeoutSec.min, maximum: limits.jobTimeoutSec.max })
const DefaultMaxAttempts = Type.Integer({ minimum: limits.attempts.min, maximum: limits.attempts.max })

/** `PATCH /v1/job-types/:name`: what is given is changed, the rest stays. */
export const JobTypePatch = Type.Object({
  enabled: Type.Optional(Enabled),
  default_timeout_sec: Type.Optional(DefaultTimeoutSec),
  default_max_attempts: Type.Optional(DefaultMaxAttempts),
  idempotent: Type.Optional(Idempotent),
  warm: Type.Optional(Warm)
}, { additionalProperties: false, minProperties: 1 })
export type JobTypePatch = Static<typeof JobTypePatch>

const fields = [
  ['enabled', Compile(Enabled), "'enabled' must be a boolean"],
  ['default_timeout_sec', Compile(DefaultTimeoutSec), `'default_timeout_sec' must be integer ${limits.jobTimeoutSec.min}..${limits.jobTimeoutSec.max}`],
  ['default_max_attempts', Compile(DefaultMaxAttempts), `'default_max_attempts' must be integer ${limits.attempts.min}..${limits.attempts.max}`],
  ['idempotent', Compile(Idempotent), "'idempotent' must be a boolean"],
  ['warm', Compile(Warm), `'warm' must be integer ${limits.warm.min}..${limits.warm.max} or "auto"`]
] as const

/** For `PATCH /v1/job-types/:name`. A boolean is `true` or `false`: the original took `"no"` for yes. */
export function checkJobTypePatch (body: unknown): HttpError | undefined {
  return checkObject(body, firstError)
}

function firstError (body: Record<string, unknown>): string | undefined {
  if (Object.keys(body).length === 0) return 'No updatable fields provided'
  for (const [name, check, text] of fields) {
    if (Object.hasOwn(body, name) && !check.Check(body[name])) return text
  }
  return unknownField(body, JobTypePatch)
}
