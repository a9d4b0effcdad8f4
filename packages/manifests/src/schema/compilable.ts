import { isRecord } from '@toolyard/contract/terms'
import { fittingDefaults } from './defaults.ts'
import { stepKeyword, type Steps } from './keywords.ts'
import { withSubschemas } from './form/subschemas.ts'

/** Values of an `enum`, and characters of its JSON, that are compared in the time of one step. */
const perStep = { values: 8, chars: 64 }

/**
 * The schema as Ajv gets it: without `$schema` (the Ajv class says the draft) and defaults that don't fit, and with the
 * steps of the counter. The published schema stays as it is.
 */
export function compilableSchema (schema: Record<string, unknown>): Record<string, unknown> {
  const { $schema: _, ...rest } = fittingDefaults(schema).schema
  return countedSchema(rest)
}

function countedSchema (schema: Record<string, unknown>): Record<string, unknown> {
  return { ...withSubschemas(schema, countedSchema), [stepKeyword]: stepsOf(schema) }
}

/** A subschema that fails at once may leave no step of its own, so each is counted where it stands, too. */
function stepsOf (schema: Record<string, unknown>): Steps {
  const steps: Steps = { own: 1, each: 0 }
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'enum' || keyword === 'const') steps.own += comparisons(value)
    else if (keyword === 'dependentRequired' || keyword === 'dependencies') steps.own += JSON.stringify(value ?? null).length / perStep.values
    else if (forValue.has(keyword)) steps.own += Math.max(1, sizeOf(value))
    if (keyword === 'patternProperties') steps.each += sizeOf(value)
    else if (forEach.has(keyword)) steps.each += 1
  }
  // A property without a schema of its own is compared with all patterns once more.
  if ('additionalProperties' in schema) steps.each += sizeOf(schema['patternProperties'])
  return { own: Math.ceil(steps.own), each: steps.each }
}

/** Keywords with subschemas or names for the value itself. */
const forValue: ReadonlySet<string> = new Set([
  'allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'properties', 'required', 'prefixItems', 'items', 'dependentSchemas', '$ref', '$dynamicRef', '$recursiveRef'
])
/** Keywords that look at each field or item. */
const forEach: ReadonlySet<string> = new Set([
  'items', 'additionalItems', 'unevaluatedItems', 'contains', 'propertyNames', 'additionalProperties', 'unevaluatedProperties', 'minProperties', 'maxProperties'
])

function comparisons (value: unknown): number {
  return (Array.isArray(value) ? value.length / perStep.values : 0) + (JSON.stringify(value)?.length ?? 0) / perStep.chars
}

function sizeOf (value: unknown): number {
  return Array.isArray(value) ? value.length : isRecord(value) ? Object.keys(value).length : 0
}
