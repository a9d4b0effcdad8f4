import fc from 'fast-check'
import t from 'tap'
import { entry, errors, load, names } from './fixture.ts'
import { untilLate } from '../support/until-late.ts'

/** Keywords of all drafts, with values that fit them, nearly fit them, or don't. */
const keywords = [
  '$id', 'id', '$schema', '$ref', '$defs', '$anchor', '$dynamicRef', '$recursiveRef', '$async', '$comment', '$data', 'definitions', 'type', 'enum', 'const', 'format', 'pattern',
  'minimum', 'exclusiveMinimum', 'multipleOf', 'minLength', 'items', 'prefixItems', 'additionalItems', 'contains', 'uniqueItems', 'properties', 'patternProperties',
  'additionalProperties', 'propertyNames', 'required', 'dependencies', 'dependentRequired', 'dependentSchemas', 'unevaluatedProperties', 'unevaluatedItems', 'allOf', 'anyOf',
  'oneOf', 'not', 'if', 'then', 'else', 'default', 'nullable', 'discriminator', '__proto__', 'constructor', 'x-toolyard-step'
]
const texts = fc.oneof(fc.constantFrom(
  'object', 'string', '#', '#/$defs/a', '#/no', 'a', 'http://json-schema.org/draft-04/schema#', 'https://json-schema.org/draft/2020-12/schema', 'http://[', '^(a+)+$', '(?<=a)b', '\\p{L}+', '(a{1,1000}){1,1000}', '[', 'date'
), fc.string({ maxLength: 8 }))
const { schema: schemas } = fc.letrec<{ schema: unknown, value: unknown }>(tie => ({
  value: fc.oneof({ maxDepth: 4 },
    texts, fc.integer(), fc.double(), fc.boolean(), fc.constant(null), fc.array(tie('schema'), { maxLength: 3 }), fc.array(texts, { maxLength: 3 }),
    fc.dictionary(texts, tie('schema'), { maxKeys: 3 }), tie('schema')
  ),
  schema: fc.oneof({ maxDepth: 4 }, fc.boolean(), fc.dictionary(fc.constantFrom(...keywords), tie('value'), { maxKeys: 4 }))
}))
const arbitrary = fc.oneof(
  { arbitrary: fc.tuple(fc.boolean(), schemas).map(([typed, schema]) => typed && typeof schema === 'object' ? { type: 'object', ...schema } : schema), weight: 4 },
  { arbitrary: fc.jsonValue({ maxDepth: 4 }), weight: 1 },
  { arbitrary: fc.integer({ min: 90, max: 3_000 }).map(depth => nested(depth)), weight: 1 }
)

function nested (depth: number): unknown {
  let schema: unknown = {}
  for (let level = 0; level < depth; level++) schema = level % 2 === 0 ? { a: schema } : { properties: schema }
  return schema
}

t.test('A6 AC2 whatever schema one entry has, its siblings are served, and calls of served tools are checked', async t => {
  const property = fc.asyncProperty(fc.array(arbitrary, {
    minLength: 20, maxLength: 20
  }), fc.dictionary(texts, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }), untilLate(8_000, async (candidates, args) => {
    const registry = await load(t, entry({ name: 'first' }), ...candidates.map((schema, at) => entry({ name: `probe_${at}`, schema: JSON.parse(JSON.stringify(schema ?? null)) as unknown })), entry({ name: 'last' }))
    const left = new Set(errors(registry).map(({ tool }) => tool))
    const served = candidates.map((_, at) => `probe_${at}`).filter(name => !left.has(name))
    if (errors(registry).some(({ rule }) => rule !== 'A6') || names(registry).join() !== ['first', ...served, 'last'].join()) throw new Error(JSON.stringify(registry.findings))
    for (const name of served) registry.get(name)?.validate(args)
  }))
  await t.resolves(fc.assert(property, { numRuns: 40 }))
})
