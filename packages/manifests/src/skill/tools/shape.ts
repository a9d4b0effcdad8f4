import { pointerName, pointerToken } from '@toolyard/contract/terms'
import type { TNull, TOptional, TSchema, TUnion } from 'typebox'
import { Errors } from 'typebox/schema'
import { Type } from '@toolyard/contract/type'
import { Turns } from '@toolyard/runtime'
import { manifestLimits } from '../../tool/limits.ts'

/** One place where a value is not as its schema says. */
export interface ShapeFault {
  /** JSON pointer. */
  path: string
  message: string
  keyword: string
  /** The field that the schema doesn't have. */
  name?: string
  /** Names that the schema has there: of fields, or of values. */
  known?: readonly string[]
}

/** A field that may be absent, or null, which is the same. */
export function nullable<T extends TSchema> (type: T): TOptional<TUnion<[T, TNull]>> {
  return Type.Optional(Type.Union([type, Type.Null()]))
}

type SchemaError = ReturnType<typeof Errors>[1][number]

/** An alternative that doesn't fit says so once more, behind the errors that tell why. */
const echoes = new Set(['anyOf', 'boolean'])

/** As much of a schema as is looked into. */
interface Container {
  properties?: Record<string, TSchema>
  additionalProperties?: TSchema | boolean
  items?: TSchema
}

/**
 * Compares a value with a TypeBox schema. The messages are like serde's, with the place in front, such as
 * ``execution[0]: missing field `binary` ``; unknown fields come first. A long list is looked through in turns.
 */
export async function shapeFaults (schema: TSchema, value: unknown): Promise<ShapeFault[]> {
  const faults: ShapeFault[] = []
  const turns = new Turns()
  for (const fault of faultsBelow(schema, value, '')) {
    if (turns.isOver()) await turns.next()
    if (fault === undefined) continue
    faults.push(fault)
    if (faults.length > manifestLimits.findings) break
  }
  return [...faults.filter(isUnknownField), ...faults.filter(fault => !isUnknownField(fault))]
}

/** Place by place: TypeBox tells eight errors of a value, whatever is in it. Undefined for each item of a list that was looked at. */
function * faultsBelow (schema: TSchema, value: unknown, at: string): Generator<ShapeFault | undefined> {
  const own = containerOf(schema, value)
  if (own === undefined) {
    yield * placeFaults(schema, value, at)
    return
  }
  const { properties = {}, additionalProperties, items = {} } = own
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      yield * faultsBelow(items, item, `${at}/${index}`)
      yield undefined
    }
    return
  }
  const anything = Object.fromEntries(Object.keys(properties).map(name => [name, {}]))
  yield * placeFaults({ ...own, properties: anything, additionalProperties: additionalProperties !== false }, value, at)
  for (const [name, item] of Object.entries(value ?? {})) {
    const below = Object.hasOwn(properties, name) ? properties[name] : typeof additionalProperties === 'object' ? additionalProperties : undefined
    if (below !== undefined) yield * faultsBelow(below, item, `${at}/${pointerToken(name)}`)
  }
}

/** The schema of an object or a list, also where null would do; undefined when the value isn't what it says. */
function containerOf (schema: TSchema, value: unknown): Container | undefined {
  const { type, anyOf } = schema as { type?: string, anyOf?: TSchema[] }
  const [first] = anyOf ?? []
  if (first !== undefined) return containerOf(first, value)
  const isList = Array.isArray(value)
  const fits = type === 'array' ? isList : type === 'object' && typeof value === 'object' && value !== null && !isList
  return fits ? schema : undefined
}

function isUnknownField ({ keyword }: ShapeFault): boolean {
  return keyword === 'additionalProperties'
}

/** Faults of a value itself. Wrong types of it are one fault: `must be string or null`. */
function placeFaults (schema: TSchema, value: unknown, at: string): ShapeFault[] {
  const errors = Errors(schema, value)[1].filter(({ keyword }) => !echoes.has(keyword))
  const types = errors.flatMap(error => error.keyword === 'type' ? [error.params.type].flat() : [])
  const others = errors.filter(error => error.keyword !== 'type')
  const [first] = errors
  if (first === undefined) return []
  if (others.length === 0) return [shapeFault(first, at, `must be ${types.join(' or ')}`)]
  const known = Object.keys((schema as Container).properties ?? {})
  return others.flatMap(error => error.keyword === 'additionalProperties'
    ? error.params.additionalProperties.slice(0, manifestLimits.findings).map(name => unknownField(known, error, at, name))
    : [{ ...shapeFault(error, at, messageOf(error)), ...error.keyword === 'enum' && { known: error.params.allowedValues.map(String) } }])
}

function shapeFault ({ instancePath, keyword }: SchemaError, at: string, message: string): ShapeFault {
  const path = `${at}${instancePath}`
  const place = placeOf(path)
  return { path, keyword, message: place === '' ? message : `${place}: ${message}` }
}

/** Each is a fault by itself, so that each has its place and its remedy. */
function unknownField (known: readonly string[], error: SchemaError, at: string, name: string): ShapeFault {
  const fault = shapeFault(error, at, `unknown field ${names([name])}, expected one of ${names(known)}`)
  return { ...fault, path: `${fault.path}/${pointerToken(name)}`, name, known }
}

function messageOf (error: SchemaError): string {
  switch (error.keyword) {
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

/** `/execution/0/args` as `execution[0].args`. */
function placeOf (pointer: string): string {
  return pointer.split('/').slice(1)
    .map(part => /^\d+$/.test(part) ? `[${part}]` : `.${pointerName(part)}`)
    .join('').replace(/^\./, '')
}
