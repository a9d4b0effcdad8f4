import type { TSchema } from 'typebox'
import { checkObject, type HttpError } from '../terms/errors.ts'
import { unknownField } from '../value/fields.ts'

/** Checks a body that has one switch and nothing else; undefined for a good one, else `VALIDATION_ERROR` that names the field. */
export function checkSwitch (body: unknown, schema: TSchema & { properties: object }, name: string): HttpError | undefined {
  return checkObject(body, object => typeof object[name] === 'boolean' ? unknownField(object, schema) : `'${name}' must be true or false`)
}
