import type { TNull, TOptional, TSchema, TUnion } from 'typebox'
import { Errors, Pointer } from 'typebox/schema'
import { Type } from '../definition-type.ts'

/** One place where a value is not as its schema says. */
export interface ShapeFault {
  /** JSON pointer. */
  path: string
  message: string
  /** What JSON Schema calls the rule that isn't kept. */
  keyword: string
}

/** A field that may be absent, or null, which is the same (SC2). */
export function nullable<T extends TSchema> (type: T): TOptional<TUnion<[T, TNull]>> {
  return Type.Optional(Type.Union([type, Type.Null()]))
}

type SchemaError = ReturnType<typeof Errors>[1][number]

/** An alternative that doesn't fit says so once more, behind the errors that tell why. */
const echoes = new Set(['anyOf', 'boolean'])

/**
 * Compares a value with a TypeBox schema. The messages are like serde's (SC1), with the place in front, such as
 * ``execution[0]: missing field `binary` ``; unknown fields come first.
 */
export function shapeFaults (schema: TSchema, value: unknown): ShapeFault[] {
  const errors = Errors(schema, value)[1].filter((error, _, all) => !echoes.has(error.keyword) && !isEchoOfItem(schema, error) && !isIdleNull(error, all))
  const places = new Map<string, SchemaError[]>()
  for (const error of errors) places.set(error.instancePath, [...places.get(error.instancePath) ?? [], error])
  const faults = [...places.values()].flatMap(place => placeFaults(schema, place))
  return [...faults.filter(isUnknownField), ...faults.filter(fault => !isUnknownField(fault))]
}

/** In a map, the error of the item tells why; only where fields are fixed, an additional one is an error by itself. */
function isEchoOfItem (schema: TSchema, { keyword, schemaPath }: SchemaError): boolean {
  return keyword === 'additionalProperties' && schemaAt(schema, schemaPath).additionalProperties !== false
}

/** What is wrong lies deeper: that the value could also have been null is no help. */
function isIdleNull ({ keyword, params, instancePath }: SchemaError, all: readonly SchemaError[]): boolean {
  return keyword === 'type' && 'type' in params && params.type === 'null' && all.some(other => other.instancePath.startsWith(`${instancePath}/`))
}

function isUnknownField ({ keyword }: ShapeFault): boolean {
  return keyword === 'additionalProperties'
}

/** Wrong types of one value are one fault: `must be string or null`. */
function placeFaults (schema: TSchema, errors: SchemaError[]): ShapeFault[] {
  const types = errors.flatMap(error => error.keyword === 'type' ? [error.params.type].flat() : [])
  const others = errors.filter(error => error.keyword !== 'type')
  const [first] = errors
  if (first === undefined) return []
  if (others.length === 0) return [shapeFault(first, `must be ${types.join(' or ')}`)]
  return others.map(error => shapeFault(error, messageOf(schema, error)))
}

function shapeFault ({ instancePath, keyword }: SchemaError, message: string): ShapeFault {
  const place = placeOf(instancePath)
  return { path: instancePath, keyword, message: place === '' ? message : `${place}: ${message}` }
}

function messageOf (schema: TSchema, error: SchemaError): string {
  switch (error.keyword) {
    case 'additionalProperties':
      return `unknown field ${names(error.params.additionalProperties)}, expected one of ${names(Object.keys(schemaAt(schema, error.schemaPath).properties ?? {}))}`
    case 'required':
      return `missing field ${names(error.params.requiredProperties)}`
    case 'enum':
      return `expected one of ${names(error.params.allowedValues.map(String))}`
    case 'minLength':
      return 'must not be empty'
    default:
      return error.message
  }
}

function names (list: readonly string[]): string {
  return list.map(name => `\`${name}\``).join(', ')
}

function schemaAt (schema: TSchema, path: string): { properties?: object, additionalProperties?: unknown } {
  return Pointer.Get(schema, path.slice(1)) ?? {}
}

/** `/execution/0/args` as `execution[0].args`. */
function placeOf (pointer: string): string {
  return pointer.split('/').slice(1)
    .map(part => /^\d+$/.test(part) ? `[${part}]` : `.${part.replaceAll('~1', '/').replaceAll('~0', '~')}`)
    .join('').replace(/^\./, '')
}
