import { fittingDefaults } from './defaults.ts'
import { dataKeywords, mapKeywords, referenceKeywords, stepKeyword } from './keywords.ts'

/** What of a validation is counted: nothing, the references that it follows, or each subschema that it looks at. */
export type Counted = 'nothing' | 'references' | 'everything'

/** Values of an `enum` that are compared in the time of one step. */
const valuesPerStep = 8

/**
 * The schema as Ajv gets it: without `$schema` (the Ajv class says the draft) and defaults that don't fit, and with the
 * steps of the counter. The
 * published schema stays as it is.
 */
export function compilableSchema (schema: Record<string, unknown>, what: Counted): Record<string, unknown> {
  const { $schema: _, ...rest } = fittingDefaults(schema).schema
  return what === 'nothing' ? rest : countedSchema(rest, what)
}

function counted (schema: unknown, what: Counted): unknown {
  if (Array.isArray(schema)) return schema.map(item => counted(item, what))
  return typeof schema === 'object' && schema !== null ? countedSchema(schema, what) : schema
}

function countedSchema (schema: object, what: Counted): Record<string, unknown> {
  const copied: Array<[string, unknown]> = []
  const references: unknown[] = []
  for (const [keyword, value] of Object.entries(schema)) {
    if (referenceKeywords.has(keyword) && typeof value === 'string') references.push({ [keyword]: value })
    else copied.push([keyword, countedValue(keyword, value, what)])
  }
  const copy: Record<string, unknown> = { ...what === 'everything' ? { [stepKeyword]: stepsOf(schema) } : {}, ...Object.fromEntries(copied) }
  if (references.length === 0) return copy
  const own: unknown = copy['allOf']
  return { ...copy, allOf: [...(Array.isArray(own) ? own as unknown[] : []), { [stepKeyword]: 1 }, ...references] }
}

function stepsOf ({ enum: values }: { enum?: unknown }): number {
  return 1 + (Array.isArray(values) ? Math.ceil(values.length / valuesPerStep) : 0)
}

function countedValue (keyword: string, value: unknown, what: Counted): unknown {
  if (dataKeywords.has(keyword)) return value
  if (!mapKeywords.has(keyword)) return counted(value, what)
  return Object.fromEntries(Object.entries(value ?? {}).map(([name, subschema]) => [name, counted(subschema, what)]))
}
