import { around, asError, isRecord, orElse, readJson, readWhole, WrittenNumber } from '@toolyard/contract/terms'
import { misuse } from '../terminal/exit-status.ts'

/** As much of a tool's JSON Schema as tells how an argument is written. */
export interface ArgumentSchema {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: ArgumentSchema[]
  oneOf?: ArgumentSchema[]
  properties?: Record<string, ArgumentSchema>
  additionalProperties?: unknown
}

/** Reads arguments, or an answer, that are JSON. @throws CommandError that names it as `what`. */
export function readObject (text: string, what: string): Record<string, unknown> {
  let value: unknown
  try {
    value = readJson(text)
  } catch (error) {
    throw misuse(`${what} isn't JSON: ${asError(error).message}`)
  }
  if (!isRecord(value)) throw misuse(`${what} must be a JSON object, such as {"path": "README.md"}`)
  return value
}

/**
 * Reads `--arg NAME=VALUE` by the tool's schema: a value is JSON where the schema doesn't ask for a text.
 *
 * @throws CommandError that names the argument and what it may be.
 */
export function readArguments (tool: string, pairs: readonly string[], schema: ArgumentSchema): Record<string, unknown> {
  const found: Record<string, unknown> = {}
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    if (at < 1) throw misuse(`--arg takes NAME=VALUE, not '${pair}'`)
    const name = pair.slice(0, at)
    if (Object.hasOwn(found, name)) throw misuse(`the argument '${name}' is given twice; a list is written as JSON: --arg '${name}=[...]'`)
    const value = readArgument(tool, name, pair.slice(at + 1), schema)
    Object.defineProperty(found, name, { value, enumerable: true, configurable: true, writable: true })
  }
  return around(found)
}

function readArgument (tool: string, name: string, text: string, { properties = {}, additionalProperties }: ArgumentSchema): unknown {
  const property = Object.hasOwn(properties, name) ? properties[name] : undefined
  if (property === undefined && additionalProperties === false) {
    const names = Object.keys(properties)
    throw misuse(`${tool} has no argument '${name}'; ${names.length === 0 ? 'it takes none' : `it takes ${names.join(', ')}`}`)
  }
  const types = typesOf(property ?? {})
  if (types.has('string')) return text
  const value = parse(text)
  if (types.size === 0) return value === undefined ? text : value.json
  if (value !== undefined && fits(value.json, types)) return value.json
  const wanted = [...types].join(' or ')
  throw misuse(`the argument '${name}' of ${tool} must be ${/^[aeiou]/.test(wanted) ? 'an' : 'a'} ${wanted}, not '${text}': write ${example(name, types)}`)
}

/** Empty when the schema leaves it open. */
function typesOf ({ type, enum: values, const: only, anyOf, oneOf }: ArgumentSchema): Set<string> {
  if (type !== undefined) return new Set([type].flat())
  if (values !== undefined) return new Set(values.map(typeOf))
  if (only !== undefined) return new Set([typeOf(only)])
  const parts = (anyOf ?? oneOf ?? []).map(typesOf)
  return parts.some(({ size }) => size === 0) ? new Set() : new Set(parts.flatMap(part => [...part]))
}

function parse (text: string): { json: unknown } | undefined {
  return orElse(() => ({ json: readWhole(text) }), undefined)
}

function fits (given: unknown, types: Set<string>): boolean {
  const value = given instanceof WrittenNumber ? given.toJSON() : given
  return types.has(typeOf(value)) || (types.has('integer') && Number.isInteger(value))
}

function typeOf (value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function example (name: string, types: Set<string>): string {
  const examples: Record<string, string> = { number: '2.5', integer: '2', boolean: 'true', array: '["a"]', object: '{"a": 1}', null: 'null' }
  return `--arg '${name}=${examples[[...types][0] ?? ''] ?? '...'}'`
}
