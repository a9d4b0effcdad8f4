import type { TSchema } from 'typebox'
import { invalidIf, type HttpError } from '../terms/errors.ts'
import { unknownField } from '../value/fields.ts'
import { isRecord } from '../value/record.ts'

/** Checks a body that has one switch and nothing else; undefined for a good one, else `VALIDATION_ERROR` that names the field. */
export function checkSwitch (body: unknown, schema: TSchema & { properties: object }, name: string): HttpError | undefined {
  const problem = !isRecord(body)
    ? 'Request body must be an object'
    : typeof body[name] === 'boolean' ? unknownField(body, schema) : `'${name}' must be true or false`
  return invalidIf(problem)
}
