import fc from 'fast-check'

/*
 * Schemas and arguments that are hard on each other: schemas of a few keywords, whose branches fail late or never, and
 * arguments that are large in one way. Names and values are few, so that they meet.
 */

type Schema = Record<string, unknown>

/** A manifest may well have so many. */
const mostChars = 100_000
const name = fc.constantFrom('a', 'b', 'c', 'list', 'aaaaaaaaaaaaaaaaaaaaaaab')
const scalar = fc.constantFrom<unknown>(0, 1, -1e-300, 'a', 'b', '', 'x'.repeat(500), 'a'.repeat(60), null, true, 1e15)
const pattern = fc.constantFrom('^a', 'b$', '^[a-z]{1,40}$', 'a*a*a*b', '^(?:a|ab)*c', '(x+){2,20}y', '^a{0,20}a{20}$', '[^b]*b[^b]*b')
const format = fc.constantFrom(
  'date-time', 'date', 'time', 'duration', 'uri', 'uri-reference', 'uri-template', 'url', 'email', 'hostname', 'ipv4', 'ipv6', 'regex', 'uuid',
  'json-pointer', 'relative-json-pointer', 'byte', 'session-file'
)
const large = fc.letrec<{ value: unknown, leaf: unknown, deep: unknown }>(tie => ({
  leaf: scalar,
  deep: fc.oneof(
    { maxDepth: 3 }, tie('leaf'), fc.array(tie('deep'), { maxLength: 4 }), fc.dictionary(name, tie('deep'), { maxKeys: 4 })
  ),
  value: tie('deep')
})).value

/** A schema of an object, with the branches and references that a validation may go through again and again. */
export const schemas: fc.Arbitrary<Schema> = fc.letrec<{ schema: Schema, keyword: Schema }>(tie => {
  const schema = tie('schema')
  const several = (most: number) => (
    fc.tuple(schema, fc.integer({ min: 1, max: most })).map(([one, count]) => Array.from({ length: count }, () => one))
  )
  return {
    schema: fc.array(tie('keyword'), { minLength: 1, maxLength: 4 }).map(keywords => Object.assign({}, ...keywords) as Schema),
    keyword: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      fc.record({ type: fc.constantFrom('object', 'array', 'string', 'integer', 'null') }),
      fc.record({ $ref: fc.constantFrom('#', '#/$defs/one', '#/$defs/two') }),
      fc.tuple(fc.array(large, { minLength: 1, maxLength: 5 }), fc.integer({ min: 1, max: 200 })).map(([values, times]) => (
        { enum: values.flatMap(value => Array.from({ length: times }, (_, at) => [value, at])).slice(0, 700) }
      )),
      fc.record({ const: large }),
      fc.record({ pattern }),
      fc.record({ format }),
      fc.record({ maxLength: fc.constantFrom(3, 1e9), minLength: fc.constantFrom(0, 1) }),
      fc.record({ multipleOf: fc.constantFrom(1, 0.01), maximum: fc.constant(1e300) }),
      fc.record({ required: fc.uniqueArray(name, { minLength: 1 }) }),
      fc.record({ uniqueItems: fc.constant(true) }),
      fc.record({ maxProperties: fc.constant(1e6), minItems: fc.constant(0) }),
      fc.record({ default: large }),
      fc.record({ anyOf: several(40) }),
      fc.record({ oneOf: several(40) }),
      fc.record({ allOf: several(10) }),
      fc.record({ not: schema }),
      fc.record({ if: schema, then: schema, else: schema }),
      fc.record({ contains: schema, minContains: fc.constantFrom(0, 1) }),
      fc.record({ items: schema }),
      fc.record({ prefixItems: several(5) }),
      fc.record({ properties: fc.dictionary(name, schema, { minKeys: 1, maxKeys: 4 }) }),
      fc.record({ patternProperties: fc.dictionary(pattern, schema, { minKeys: 1, maxKeys: 3 }) }),
      fc.record({ additionalProperties: schema }),
      fc.record({ propertyNames: schema }),
      fc.record({ unevaluatedProperties: schema }),
      fc.record({ unevaluatedItems: schema }),
      fc.record({ dependentSchemas: fc.dictionary(name, schema, { maxKeys: 3 }) }),
      fc.record({ dependentRequired: fc.dictionary(name, fc.uniqueArray(name), { maxKeys: 3 }) })
    )
  }
}).schema.filter(schema => JSON.stringify(schema).length < mostChars)

/** Large parts of a body: `bytes` long in its JSON, and with no more objects, lists and fields than a body may have. */
export function largeValues (bytes: number, parts: number): fc.Arbitrary<unknown> {
  const items = fc.array(large, { minLength: 1, maxLength: 3 }).map(some => {
    const json = JSON.stringify(some).slice(1, -1)
    const held = 1 + (json.match(/[[{:]/g)?.length ?? 0)
    const times = Math.max(1, Math.floor(Math.min(bytes / (json.length + 1), /[[{]/.test(json) ? parts / held : Infinity)))
    return JSON.parse(`[${Array.from({ length: times }, () => json).join(',')}]`) as unknown
  })
  const fields = fc.tuple(large, fc.constantFrom('a', 'aaaaaaaaaaaaaaaaaaaaaaaa', '')).map(([value, prefix]) => {
    const json = JSON.stringify(value)
    const held = 1 + (json.match(/[[{:]/g)?.length ?? 0)
    const times = Math.floor(Math.min(bytes / (json.length + prefix.length + 10), parts / held))
    return Object.fromEntries(Array.from({ length: times }, (_, at) => [`${prefix}${at}`, JSON.parse(json)]))
  })
  const part = fc.constantFrom('a', 'ab', '0', '/', '@a.', ':', '-', '{a}', 'é', '😀', '\n', '[')
  const text = part.map(each => each.repeat(Math.floor(bytes / 4)))
  const deep = fc.tuple(name, large).map(([field, value]) => (
    Array.from({ length: 90 }).reduce<unknown>(inner => ({ [field]: inner }), value)
  ))
  return fc.oneof(items, items, fields, text, deep)
}
