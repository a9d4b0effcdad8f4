import { dataKeywords, mapKeywords, referenceKeywords } from './keyword-kinds.ts'
import { stepKeyword } from './keywords.ts'

/**
 * The schema as Ajv gets it: without `$schema` (the Ajv class says the draft), and with each reference behind a step
 * of the counter. The published schema stays as it is.
 */
export function compilableSchema (schema: Record<string, unknown>, plain: boolean): Record<string, unknown> {
  const { $schema: _, ...rest } = schema
  return plain ? rest : counted(rest) as Record<string, unknown>
}

function counted (schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(counted)
  if (typeof schema !== 'object' || schema === null) return schema
  const copied: Array<[string, unknown]> = []
  const references: unknown[] = []
  for (const [keyword, value] of Object.entries(schema)) {
    if (referenceKeywords.has(keyword) && typeof value === 'string') references.push({ [keyword]: value })
    else copied.push([keyword, countedValue(keyword, value)])
  }
  const copy = Object.fromEntries(copied)
  if (references.length === 0) return copy
  const own: unknown = copy['allOf']
  return { ...copy, allOf: [...(Array.isArray(own) ? own as unknown[] : []), { [stepKeyword]: true }, ...references] }
}

function countedValue (keyword: string, value: unknown): unknown {
  if (dataKeywords.has(keyword)) return value
  if (!mapKeywords.has(keyword)) return counted(value)
  return Object.fromEntries(Object.entries(Object(value) as object).map(([name, subschema]) => [name, counted(subschema)]))
}
