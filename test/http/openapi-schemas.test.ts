import { toolComponents } from '@toolyard/api'
import { Ajv, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import t from 'tap'

type Schema = Record<string, unknown>
type Check = ValidateFunction

const options = { strict: false, logger: false, validateFormats: false, validateSchema: false, meta: false } as const

/** How a client would check a body by the document. */
function documented (schema: Schema): Check {
  const ajv = new Ajv2020(options)
  ajv.addSchema({ $id: 'document:', components: { schemas: toolComponents('tool.arguments', schema) } })
  return ajv.compile({ $ref: 'document:#/components/schemas/tool.arguments' })
}

const cases: Array<[string, Schema, unknown[], unknown[]]> = [
  [
    'definitions',
    {
      type: 'object',
      properties: { a: { $ref: '#/definitions/short%20text' } },
      definitions: { 'short text': { type: 'string', maxLength: 2 } }
    },
    [{ a: 'x' }],
    [{ a: 'xyz' }, { a: 1 }]
  ],
  [
    'definitions that refer to each other',
    {
      type: 'object',
      properties: { a: { $ref: '#/$defs/list' } },
      $defs: { list: { type: 'array', items: { $ref: '#/$defs/item' } }, item: { anyOf: [{ type: 'integer' }, { $ref: '#/$defs/list' }] } }
    },
    [{ a: [1, [2, []]] }],
    [{ a: ['x'] }, { a: [[['x']]] }]
  ],
  [
    'names that a reference escapes',
    {
      type: 'object',
      properties: { a: { $ref: '#/$defs/x~1y~0z%25' } },
      $defs: { 'x/y~z%': { type: 'integer' }, x_y_z_: { type: 'string' } }
    },
    [{ a: 1 }],
    [{ a: 'x' }]
  ],
  [
    'the whole schema',
    { type: 'object', properties: { next: { $ref: '#' }, v: { type: 'integer' } }, additionalProperties: false },
    [{ next: { next: { v: 1 } } }],
    [{ next: { next: { v: 'x' } } }, { next: { w: 1 } }]
  ],
  [
    'another property',
    {
      type: 'object',
      properties: { a: { type: 'object', properties: { b: { type: 'integer' } } }, c: { $ref: '#/properties/a/properties/b' } }
    },
    [{ c: 1 }],
    [{ c: 'x' }]
  ],
  [
    'a place in a tuple',
    {
      type: 'object',
      properties: {
        a: { type: 'array', items: [{ type: 'integer' }, { type: 'string' }], additionalItems: { type: 'boolean' } },
        b: { $ref: '#/properties/a/items/1' }
      }
    },
    [{ a: [1, 'x', true], b: 'x' }],
    [{ a: ['x'] }, { a: [1, 'x', 2] }, { b: 1 }]
  ],
  [
    'a part that stands where no schema does',
    { type: 'object', properties: { a: { $ref: '#/x-parts/0' } }, 'x-parts': [{ type: 'integer' }] },
    [{ a: 1 }],
    [{ a: 'x' }]
  ],
  [
    'true and false',
    { type: 'object', properties: { a: true, b: { $ref: '#/properties/a' }, c: { $ref: '#/$defs/none' } }, $defs: { none: false } },
    [{ b: 1 }],
    [{ c: 1 }]
  ],
  [
    'anchors',
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { a: { $ref: '#num' } },
      $defs: { n: { $anchor: 'num', type: 'number' } }
    },
    [{ a: 1 }],
    [{ a: 'x' }]
  ],
  [
    'dependencies',
    { type: 'object', dependencies: { a: ['b'], c: { required: ['d'] } } },
    [{ a: 1, b: 1 }, { c: 1, d: 1 }],
    [{ a: 1 }, { c: 1 }]
  ],
  ['nullable', { type: 'object', properties: { a: { type: 'string', nullable: true } } }, [{ a: null }, { a: 'x' }], [{ a: 1 }]],
  [
    'a property with the name of a keyword',
    { type: 'object', properties: { $ref: { type: 'integer' }, items: { type: 'string' }, definitions: { type: 'boolean' } } },
    [{ $ref: 1, items: 'x', definitions: true }],
    [{ $ref: 'x' }, { items: 1 }, { definitions: 1 }]
  ],
  [
    'data that looks like a schema',
    {
      type: 'object',
      properties: { a: { enum: [{ $ref: '#/nowhere' }] }, b: { const: { definitions: 1 } } },
      default: { $id: 'x' },
      examples: [{ $schema: 1 }]
    },
    [{ a: { $ref: '#/nowhere' } }, { b: { definitions: 1 } }],
    [{ a: {} }, { b: { $defs: 1 } }]
  ]
]

for (const [what, schema, good, bad] of cases) {
  t.test(`the schema of a tool means the same in a document of OpenAPI: ${what}`, async t => {
    const before = JSON.stringify(schema)
    const check = documented(schema)
    for (const value of good) t.ok(check(value), JSON.stringify(value))
    for (const value of bad) t.notOk(check(value), JSON.stringify(value))
    t.equal(JSON.stringify(schema), before, 'the schema of the registry stays as it was')
  })
}

t.test('a keyword that nobody knows stands in the document under its name', async t => {
  const schema = { type: 'object', constructor: 'a', toString: 'b' }
  t.same(Object.entries(toolComponents('tool.arguments', schema)['tool.arguments'] ?? {}), Object.entries(schema))
})

t.test('a part that many references name is in the document once', async t => {
  const deep = (levels: number): Schema => levels === 0
    ? { type: 'string', description: 'x'.repeat(1_000) }
    : {
        type: 'object',
        properties: { a: deep(levels - 1), b: { $ref: `#/properties${'/a/properties'.repeat(80 - levels)}/a` } }
      }
  const json = JSON.stringify(toolComponents('tool.arguments', deep(80)))
  t.equal(json.split('x'.repeat(1_000)).length, 2)
})

t.test('a schema of draft-07 accepts the same values in the document as before', async t => {
  const name = fc.constantFrom('a', 'b', 'c/d', 'items')
  const reference = fc.constantFrom(
    '#',
    '#/definitions/a',
    '#/definitions/c~1d',
    '#/definitions/a/properties/b',
    '#/$defs/b',
    '#/properties/a'
  ).map($ref => ({ $ref }))
  const { schema } = fc.letrec<{ schema: Schema, part: unknown }>(tie => ({
    // Only below a property or an item, where each step takes a part of the value.
    part: fc.oneof({ depthSize: 'small', withCrossShrink: true }, reference, tie('schema'), fc.boolean()),
    schema: fc.oneof({ depthSize: 'small', withCrossShrink: true },
      fc.constantFrom(
        { type: 'integer' },
        { type: 'string', maxLength: 1 },
        { enum: [1, 'x', null] },
        { type: 'string', nullable: true },
        {}
      ),
      fc.record(
        { type: fc.constant('object'), properties: fc.dictionary(name, tie('part')), additionalProperties: fc.boolean() },
        { requiredKeys: ['properties'] }
      ),
      fc.record({ type: fc.constant('array'), items: tie('part') }),
      fc.record(
        { items: fc.array(tie('part'), { minLength: 1, maxLength: 3 }), additionalItems: tie('part') },
        { requiredKeys: ['items'] }
      ),
      fc.record({ additionalItems: tie('part') }),
      fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
      fc.record({ not: tie('schema') }),
      fc.record({ if: tie('schema'), then: tie('schema'), else: tie('schema') }),
      fc.record({ dependencies: fc.dictionary(name, fc.oneof(fc.constant(['a']), tie('schema') as fc.Arbitrary<unknown>)) }))
  }))
  const whole = fc.record({
    type: fc.constant('object'),
    properties: fc.record({ a: schema, b: schema }),
    definitions: fc.record({ a: schema.map(part => ({ properties: { b: part } })), 'c/d': schema }),
    $defs: fc.record({ b: schema })
  })
  const value = fc.letrec(tie => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(1, 'x', 'xy', null, true),
      fc.dictionary(name, tie('value'), { maxKeys: 3 }),
      fc.array(tie('value'), { maxLength: 3 })
    )
  })).value
  const values = fc.array(fc.dictionary(name, value), { minLength: 1, maxLength: 8 })
  await t.resolves(fc.assert(fc.asyncProperty(whole, values, async (schema, values) => {
    const before = new Ajv(options).compile(schema)
    const after = documented(schema)
    return values.every(value => before(value) === after(value))
  }), { numRuns: 100 }))
})
