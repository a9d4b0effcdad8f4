import type { KeywordDefinition } from 'ajv'
import { manifestLimits } from '../tool/limits.ts'
import type { Pattern } from './pattern/pattern.ts'

/** Keywords whose value maps names to subschemas: the names are not keywords. */
export const mapKeywords: ReadonlySet<string> = new Set([
  'properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'
])

/** Keywords whose value is data: nothing in it is a schema. */
export const dataKeywords: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'required', 'dependentRequired'])

/** Keywords that follow a reference. */
export const referenceKeywords: ReadonlySet<string> = new Set(['$ref', '$dynamicRef', '$recursiveRef'])

/**
 * Keywords that compile whenever the meta-schema accepts them. A schema made of these alone is compiled at its first
 * use; one with any other keyword (references, identifiers, `nullable`, …) is compiled when it is loaded, so that a
 * fault is found then.
 */
export const plainKeywords: ReadonlySet<string> = new Set([
  '$schema', '$comment', 'title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly',
  'type', 'enum', 'const', 'format', 'pattern', 'contentEncoding', 'contentMediaType',
  'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength',
  'items', 'minItems', 'maxItems', 'uniqueItems', 'contains',
  'properties', 'patternProperties', 'additionalProperties', 'propertyNames', 'required', 'minProperties', 'maxProperties',
  'allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'definitions', '$defs'
])

/** The keyword that counts steps: `compilableSchema` puts it beside each reference, or into each subschema. */
export const stepKeyword = 'x-toolyard-step'

/** Arguments whose validation would take too many steps. */
export class TooComplex extends Error {
  override readonly name = 'TooComplex'
}

/** What `stepCounter` makes. */
export interface StepCounter {
  definition: KeywordDefinition
  /** Counts what a pattern may need for a text; throws TooComplex. */
  countPattern: (text: string, pattern: Pattern) => void
  reset: () => void
}

/**
 * Counts the steps of one validation: the references that it follows, or all subschemas that it looks at. Without it, a
 * recursive schema with a choice (`anyOf: [{$ref: "#"}, {$ref: "#"}]`) would take time exponential in the depth of the
 * arguments, and one with a thousand choices a thousand steps for each value.
 *
 * @throws TooComplex (while validating) when `max` is passed; call `reset` before each validation.
 */
export function stepCounter (max: number): StepCounter {
  let left = max
  let leftOfPatterns: number = manifestLimits.patternSteps
  return {
    countPattern: (text, { places }) => {
      leftOfPatterns -= text.length * places
      if (leftOfPatterns < 0) throw new TooComplex()
    },
    definition: {
      keyword: stepKeyword,
      schemaType: 'number',
      errors: false,
      validate: (steps: number) => {
        left -= steps
        if (left < 0) throw new TooComplex()
        return true
      }
    },
    reset: () => {
      left = max
      leftOfPatterns = manifestLimits.patternSteps
    }
  }
}

/** `uniqueItems` in linear time: Ajv's own compares every pair of items when they are objects. */
export const uniqueItems: KeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  errors: false,
  validate: (wanted: boolean, items: unknown[]) => !wanted || areUnique(items)
}

/** Ends at the first item that was there before; what is no object is compared as it is. */
function areUnique (items: readonly unknown[]): boolean {
  const seen = new Set<unknown>()
  const objects = new Set<string>()
  return items.every((item, index) => {
    if (typeof item !== 'object' || item === null) return seen.add(item).size === index + 1 - objects.size
    objects.add(canonical(item))
    return seen.size + objects.size === index + 1
  })
}

/** JSON with sorted keys: equal for equal values, whatever the order of their properties. */
function canonical (value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).sort(([left], [right]) => left < right ? -1 : 1)
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`
}
