import type { TSchema } from 'typebox'
import { firstChars } from './first-chars.ts'

/** Names the first field that a schema doesn't know; `at` is what stands before its name. */
export function unknownField (value: object, schema: TSchema & { properties: object }, at = ''): string | undefined {
  const unknown = Object.keys(value).find(key => !Object.hasOwn(schema.properties, key))
  if (unknown === undefined) return undefined
  const known = Object.keys(schema.properties).map(key => `'${key}'`).join(', ')
  return `'${at}${firstChars(unknown, 80)}' is not a known field (known: ${known})`
}

/** Names the first parameter of a query that is none of the known ones. */
export function unknownParameter (query: object, known: readonly string[]): string | undefined {
  const unknown = Object.keys(query).find(name => !known.includes(name))
  if (unknown === undefined) return undefined
  return `'${firstChars(unknown, 80)}' is not a known parameter (known: ${known.map(name => `'${name}'`).join(', ') || 'none'})`
}

/** Null means the default, like a field that isn't there. */
export function isAbsent (value: unknown): value is undefined | null {
  return value === undefined || value === null
}

/** A field, whether it must be there, its check, and what is said of a value that doesn't fit. */
type Field = readonly [name: string, isNeeded: boolean, check: { Check: (value: unknown) => boolean }, text: string]

/** Says what is wrong with the first field that doesn't fit. */
export function wrongField (body: Readonly<Record<string, unknown>>, fields: readonly Field[]): string | undefined {
  return fields.find(([name, isNeeded, check]) => (isNeeded || Object.hasOwn(body, name)) && !check.Check(body[name]))?.[3]
}
