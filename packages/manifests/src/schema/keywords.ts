import { _, type CodeKeywordDefinition, type KeywordDefinition } from 'ajv'
import { lostText } from '@toolyard/contract/terms'
import { manifestLimits } from '../tool/limits.ts'
import { canonical, charsPerStep, type CountSteps } from './numbers/canonical.ts'
import type { Pattern } from './pattern/pattern.ts'

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

/** The keyword that counts steps: `countedSchema` puts it into each subschema. */
export const stepKeyword = 'x-toolyard-step'

/** The cost of one subschema where a value is checked against it, whether it fits or not. */
export interface Steps {
  /** For the value itself. */
  own: number
  /** For each of its fields or items. */
  each: number
}

/** Arguments whose validation would take too many steps. */
export class TooComplex extends Error {
  override readonly name = 'TooComplex'
}

interface StepCounter {
  definition: CodeKeywordDefinition
  /** @throws TooComplex */
  count: CountSteps
  /** Counts what a pattern may need for a text; throws TooComplex. */
  countPattern: (text: string, pattern: Pattern) => void
  /** To be called before each validation. */
  reset: (max: number) => void
}

/**
 * Counts the steps of one validation: all subschemas that it looks at, and what it does for each of them before anything
 * can fail. Without it, a recursive schema with a choice (`anyOf: [{$ref: "#"}, {$ref: "#"}]`) would take time exponential
 * in the depth of the arguments, and one with a thousand choices a thousand steps for each value.
 *
 * @throws TooComplex (while validating) when there are more than `reset` was given.
 */
export function stepCounter (): StepCounter {
  let left = 0
  let leftOfPatterns = 0
  const count = (steps: number): void => {
    left -= steps
    if (left < 0) throw new TooComplex()
  }
  const countValue = (value: unknown, own: number, each: number): void => {
    if (typeof value === 'string') count(own + Math.floor(value.length / charsPerStep))
    else if (each === 0 || typeof value !== 'object' || value === null) count(own)
    else count(own + each * (Array.isArray(value) ? value.length : Object.keys(value).length))
  }
  return {
    count,
    countPattern: (text, { places }) => {
      leftOfPatterns -= text.length * places
      if (leftOfPatterns < 0) throw new TooComplex()
    },
    definition: {
      keyword: stepKeyword,
      schemaType: 'object',
      code: ({ gen, data, schema }) => {
        // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- `countedSchema` writes it.
        const { own, each } = schema as Steps
        gen.code(_`${gen.scopeValue('func', { ref: countValue })}(${data}, ${own}, ${each})`)
      }
    },
    reset: max => {
      left = max
      leftOfPatterns = manifestLimits.patternSteps
    }
  }
}

/** `uniqueItems` in linear time: Ajv's own compares every pair of items when they are objects. */
export function uniqueItems (count: CountSteps): KeywordDefinition {
  return {
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    errors: false,
    validate: (wanted: boolean, items: unknown[]) => !wanted || areUnique(items, count)
  }
}

/** Ends at the first item that was there before; what is no object, and no number that a double can't hold, is compared as it is. */
function areUnique (items: readonly unknown[], count: CountSteps): boolean {
  count(items.length)
  const seen = new Set<unknown>()
  const written = new Set<string>()
  return items.every((item, index) => {
    const isObject = typeof item === 'object' && item !== null
    const text = isObject ? canonical(item, count) : lostText(items, index)
    if (text === undefined) seen.add(item)
    else written.add(text)
    return seen.size + written.size === index + 1
  })
}
