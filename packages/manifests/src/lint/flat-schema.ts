import { isRecord, pointerTarget } from '@toolyard/contract/terms'
import type { JsonSchema } from '../tool/tool.ts'

/** Providers refuse these at the top of a schema. */
const choices = ['anyOf', 'oneOf'] as const
const narrowing = ['not', 'enum', 'const', 'if', 'then', 'else'] as const
/** Choices within choices, and references to references. */
const mostLevels = 8

/**
 * A schema without choices at its top: the properties of all branches stand beside each other, and those are required that each
 * branch requires. So all that fits the schema still fits.
 *
 * @param changes takes what was changed, as ends of a sentence.
 */
export function flatSchema (schema: JsonSchema, changes: Set<string>): JsonSchema {
  const found = ['$ref', 'allOf', ...choices, ...narrowing].filter(keyword => keyword in schema)
  if (found.length === 0) return schema
  for (const keyword of found) {
    changes.add(`"${keyword}" at the top is ${narrowing.some(each => each === keyword) ? 'left' : 'written'} out`)
  }
  return flat(schema, schema, 0)
}

function flat (schema: unknown, root: JsonSchema, level: number): JsonSchema {
  if (!isRecord(schema) || level > mostLevels) return {}
  const { $ref: reference, allOf, anyOf, oneOf, not: _, enum: __, const: ___, if: condition, then: yes, else: no, ...own } = schema
  const each = (list: unknown): JsonSchema[] => Array.isArray(list) ? list.map(branch => flat(branch, root, level + 1)) : []
  const all = [...typeof reference === 'string' ? [flat(pointerTarget(root, reference), root, level + 1)] : [], ...each(allOf)]
  const whole = all.reduce((sum, part) => joined(sum, part, [...requiredOf(sum), ...requiredOf(part)]), own)
  const conditional = [condition, yes, no].filter(isRecord).map(part => ({ ...flat(part, root, level + 1), required: [] }))
  const alternatives = [each(anyOf), each(oneOf), conditional]
  return alternatives.filter(branches => branches.length > 0).reduce((sum, branches) => {
    const [first, ...others] = branches.map(requiredOf)
    const common = (first ?? []).filter(name => others.every(names => names.includes(name)))
    const required = [...requiredOf(sum), ...common]
    return branches.reduce((sum, branch) => joined(sum, branch, required), sum)
  }, whole)
}

/** One schema with the properties of both. What the first says of itself stays. */
function joined (sum: JsonSchema, part: JsonSchema, required: readonly string[]): JsonSchema {
  const { properties: ours } = sum
  const { properties: theirs, required: _, additionalProperties: __, ...rest } = part
  const properties = { ...isRecord(ours) ? ours : {} }
  for (const [name, schema] of Object.entries(isRecord(theirs) ? theirs : {})) {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined
    const isSame = known === undefined || JSON.stringify(known) === JSON.stringify(schema)
    properties[name] = isSame ? schema : { anyOf: [...branchesOf(known), schema] }
  }
  return { ...rest, ...sum, properties, ...required.length > 0 && { required: [...new Set(required)] } }
}

function branchesOf (schema: unknown): unknown[] {
  return isRecord(schema) && Object.keys(schema).length === 1 && Array.isArray(schema['anyOf']) ? schema['anyOf'] : [schema]
}

function requiredOf ({ required }: JsonSchema): string[] {
  return Array.isArray(required) ? required.filter(name => typeof name === 'string') : []
}
