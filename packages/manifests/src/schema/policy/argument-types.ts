import { isRecord } from '@toolyard/contract/terms'
import type { JsonSchema } from '../../tool/tool.ts'

/** A type of CEL, or the fields of an object. */
export type ArgumentType = string | { [name: string]: ArgumentType }

const scalars: Readonly<Record<string, string>> = { string: 'string', boolean: 'bool', number: 'double', integer: 'double' }
const anything = 'dyn'
/** Deeper objects are anything. */
const mostDepth = 5

/**
 * The types of a tool's arguments in CEL. All numbers are doubles. What the schema leaves open may be anything, and so may the
 * fields of an object that takes fields of any name.
 */
export function argumentTypes (schema: JsonSchema, depth = 0): ArgumentType {
  const { type, properties, additionalProperties, items } = schema
  if (typeof type !== 'string') return depth === 0 && isRecord(properties) ? argumentTypes({ ...schema, type: 'object' }) : anything
  if (Object.hasOwn(scalars, type)) return scalars[type] ?? anything
  if (type === 'array') {
    const item = isRecord(items) ? argumentTypes(items, depth + 1) : anything
    return `list<${typeof item === 'string' && item !== anything ? item : anything}>`
  }
  if (type !== 'object') return anything
  if (!isRecord(properties) || depth > mostDepth || additionalProperties === true || isRecord(additionalProperties)) return 'map<string, dyn>'
  const typeOf = (property: unknown): ArgumentType => isRecord(property) ? argumentTypes(property, depth + 1) : anything
  const fields = Object.entries(properties).map(([name, property]) => [name, typeOf(property)] as const)
  return fields.length === 0 ? 'map<string, dyn>' : Object.fromEntries(fields)
}
