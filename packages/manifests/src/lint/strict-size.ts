import { dataKeywords, mapKeywords } from '../schema/form/subschemas.ts'
import { strictLimits } from './strict-limits.ts'

/** How much a model has to read, and fill, of a schema. */
interface SchemaSize {
  /** Levels of nested objects and lists; 1 is a flat list of parameters. */
  depth: number
  properties: number
  enumValues: number
  /** UTF-16 units of names and values. */
  textChars: number
  /** UTF-16 units of the largest list of values, of those with more than `strictLimits.longEnum.values`. */
  longEnumChars: number
}

/** Measures a schema; references aren't followed. */
export function schemaSize (schema: unknown): SchemaSize {
  const size: SchemaSize = { depth: 0, properties: 0, enumValues: 0, textChars: 0, longEnumChars: 0 }
  measure(schema, 0, size)
  return size
}

/** Why a schema is too large for strict mode, as a half sentence; undefined when it isn't. */
export function strictExcess (schema: unknown): string | undefined {
  const { depth, properties, enumValues, textChars, longEnumChars } = schemaSize(schema)
  const { longEnum } = strictLimits
  if (depth > strictLimits.depth) return `the schema has ${depth} levels, and strict mode takes ${strictLimits.depth}`
  if (properties > strictLimits.properties) return `the schema has ${properties} properties, and strict mode takes ${strictLimits.properties}`
  if (enumValues > strictLimits.enumValues) return `the schema has ${enumValues} values of enum, and strict mode takes ${strictLimits.enumValues}`
  if (textChars > strictLimits.textChars) return `names and values of the schema have ${textChars} characters, and strict mode takes ${strictLimits.textChars}`
  if (longEnumChars > longEnum.chars) return `an enum of more than ${longEnum.values} values has ${longEnumChars} characters, and strict mode takes ${longEnum.chars}`
  return undefined
}

function measure (schema: unknown, depth: number, size: SchemaSize): void {
  if (Array.isArray(schema)) {
    for (const item of schema) measure(item, depth, size)
    return
  }
  if (typeof schema !== 'object' || schema === null) return
  const level = depth + ('properties' in schema || 'items' in schema ? 1 : 0)
  size.depth = Math.max(size.depth, level)
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'enum' || keyword === 'const') countValues(keyword === 'enum' && Array.isArray(value) ? value : [value], size)
    if (dataKeywords.has(keyword)) continue
    if (!mapKeywords.has(keyword)) {
      measure(value, level, size)
      continue
    }
    for (const [name, subschema] of Object.entries((value as unknown) ?? {})) {
      if (keyword === 'properties') size.properties++
      size.textChars += name.length
      measure(subschema, level, size)
    }
  }
}

function countValues (values: readonly unknown[], size: SchemaSize): void {
  const chars = values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0)
  size.enumValues += values.length
  size.textChars += chars
  if (values.length > strictLimits.longEnum.values) size.longEnumChars = Math.max(size.longEnumChars, chars)
}
