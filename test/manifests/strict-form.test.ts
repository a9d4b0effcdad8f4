import { Ajv } from 'ajv'
import t from 'tap'
import { strictForm, strictRules, strictToolSpec, withoutStrictNulls } from '@toolyard/manifests'
import { soundTool } from './project.ts'

const schema = {
  type: 'object',
  properties: {
    path: { type: 'string', minLength: 1, description: 'Where.' },
    mode: { type: 'string', enum: ['a', 'b'], default: 'a' },
    depth: { type: ['integer', 'null'], minimum: 0 },
    tags: { type: 'array', items: { type: 'object', properties: { key: { type: 'string' } } } },
    either: { oneOf: [{ type: 'string', format: 'uri' }, { type: 'number' }] },
    maybe: { anyOf: [{ type: 'number' }, { type: 'null' }] },
    node: { $ref: '#/$defs/node' },
    kind: { const: 'x' }
  },
  required: ['path'],
  $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } }
}

const strict = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'Where.' },
    mode: { type: ['string', 'null'], enum: ['a', 'b', null] },
    depth: { type: ['integer', 'null'], minimum: 0 },
    tags: {
      type: ['array', 'null'],
      items: { type: 'object', properties: { key: { type: ['string', 'null'] } }, required: ['key'], additionalProperties: false }
    },
    either: { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'null' }] },
    maybe: { anyOf: [{ type: 'number' }, { type: 'null' }] },
    node: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] },
    kind: { anyOf: [{ const: 'x', type: 'string' }, { type: 'null' }] }
  },
  required: ['path', 'mode', 'depth', 'tags', 'either', 'maybe', 'node', 'kind'],
  additionalProperties: false,
  $defs: {
    node: {
      type: 'object',
      properties: { next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } },
      required: ['next'],
      additionalProperties: false
    }
  }
}

t.test('the strict form closes objects, requires all properties, and lets optional ones be null', async t => {
  const before = structuredClone(schema)
  t.strictSame(strictForm(schema), { schema: strict })
  t.strictSame(schema, before, 'the schema itself is not changed')
})

t.test('the strict form of a strict form is the same', async t => {
  t.strictSame(strictForm(strict), { schema: strict })
})

t.test('a schema that can\'t be written in strict mode has no strict form, and the reason is given', async t => {
  const object = (property: unknown, more = {}) => ({ type: 'object', properties: { a: property }, ...more })
  let deep: unknown = { type: 'string' }
  for (let level = 0; level < 10; level++) deep = { type: 'array', items: deep }
  const cases: Array<[Record<string, unknown>, RegExp]> = [
    [{ anyOf: [{ type: 'object' }] }, /must be an object/],
    [object({}), /^\/a has no type$/],
    [object(true), /^\/a has no type$/],
    [object({ type: 'object' }), /^\/a may have properties of any name$/],
    [object({ type: 'object', additionalProperties: { type: 'string' } }), /^\/a may have properties of any name$/],
    [object({ type: 'string' }, { additionalProperties: true }), /^the schema may have properties of any name$/],
    [object({ type: 'string' }, { patternProperties: { x: {} } }), /^the schema uses patternProperties$/],
    [object({ type: 'string', allOf: [] }), /^\/a uses allOf$/],
    [object({ type: 'array' }), /^\/a\/items has no type$/],
    [object({ type: 'array', items: [{ type: 'string' }] }), /^\/a\/items has no type$/],
    [object({ type: 'string' }, { required: ['b'] }), /^the schema requires "b"/],
    [object({ type: 'string', enum: Array.from({ length: 1_001 }, (_, at) => String(at)) }, { required: ['a'] }), /^the schema has 1001 values/],
    [object(deep), /^the schema has 11 levels/]
  ]
  for (const [schema, reason] of cases) t.match(strictForm(schema), { refused: reason }, JSON.stringify(schema).slice(0, 100))
})

t.test("Anthropic's strict form has no bounds and no patterns, and keeps what is optional so; a schema that refers to itself has none", t => {
  const number = { type: 'integer', minimum: 1, multipleOf: 2 }
  const bounded = { type: 'object', properties: { a: number, b: { type: 'array', items: { type: 'string', pattern: '^x' }, maxItems: 2 }, c: { type: ['string', 'null'] } }, required: ['a'] }
  t.strictSame(strictForm(bounded, strictRules.anthropic), {
    schema: {
      type: 'object',
      properties: { a: { type: 'integer' }, b: { type: 'array', items: { type: 'string' } }, c: { type: ['string', 'null'] } },
      required: ['a'],
      additionalProperties: false
    }
  })
  t.match(strictForm(schema, strictRules.anthropic), { refused: 'the schema refers to itself' })
  t.end()
})

t.test('a reference in a strict form leads to what it led to', t => {
  const either = { oneOf: [{ type: 'string' }, { type: 'number' }] }
  const form = strictForm({ type: 'object', properties: { either, other: { $ref: '#/properties/either/oneOf/1' } }, required: ['either', 'other'] })
  t.match(form, { schema: { properties: { other: { $ref: '#/$defs/1' } }, $defs: { 1: { type: 'number' } } } })
  t.end()
})

t.test('R6 a tool with a strict form has a strict spec, and others have none', async t => {
  const tool = await soundTool(t, { inputs: { path: { type: 'string' } } })
  t.strictSame(strictToolSpec(tool), {
    type: 'function',
    function: {
      name: 'probe',
      description: 'Looks at something.',
      parameters: { type: 'object', properties: { path: { type: ['string', 'null'] } }, required: ['path'], additionalProperties: false },
      strict: true
    }
  })
  t.match(strictToolSpec(await soundTool(t, {})), { function: { parameters: { properties: {}, required: [] } } }, 'no parameters at all')
  t.equal(strictToolSpec(await soundTool(t, { inputs: { any: { type: 'object' } } })), undefined)
})

t.test('nulls that stand for a missing value in strict mode are removed, and others stay', async t => {
  const args = { path: 'x', mode: null, depth: null, tags: [{ key: null }], either: null, other: null }
  const validate = new Ajv({ strict: false }).compile(schema)
  t.notOk(validate(args))
  const plain = withoutStrictNulls(schema, args)
  t.strictSame(plain, { path: 'x', depth: null, tags: [{}], other: null })
  t.ok(validate(plain))
  t.strictSame(withoutStrictNulls(schema, { path: null }), { path: null }, 'a required argument')
})

t.test('nulls are removed behind references, and in the choice that fits', async t => {
  const node = { type: 'object', properties: { v: { type: 'integer' }, next: { $ref: '#/$defs/node' } }, required: ['v'], additionalProperties: false }
  const list = { type: 'object', properties: { first: { $ref: '#/$defs/node' } }, required: ['first'], $defs: { node } }
  t.strictSame(withoutStrictNulls(list, { first: { v: 1, next: { v: 2, next: null } } }), { first: { v: 1, next: { v: 2 } } })
  const choice = {
    type: 'object',
    properties: {
      x: {
        anyOf: [
          { type: 'object', properties: { kind: { const: 'a' }, v: { type: 'integer' } }, required: ['kind'], additionalProperties: false },
          { type: 'object', properties: { kind: { const: 'b' }, v: { type: ['integer', 'null'] }, w: { type: 'string' } }, required: ['kind'], additionalProperties: false }
        ]
      }
    }
  }
  t.strictSame(withoutStrictNulls(choice, { x: { kind: 'a', v: null } }), { x: { kind: 'a' } })
  t.strictSame(withoutStrictNulls(choice, { x: { kind: 'b', v: null, w: null } }), { x: { kind: 'b', v: null } })
  t.strictSame(withoutStrictNulls(choice, { x: null }), {})
})

t.test('choices within choices, and references to each other, take no long search', async t => {
  const tree = {
    type: 'object',
    properties: { t: { $ref: '#/$defs/tree' } },
    $defs: { tree: { anyOf: [{ type: 'object', properties: { a: { $ref: '#/$defs/tree' }, no: { const: 1 } }, required: ['no'] }, { type: 'object', properties: { a: { $ref: '#/$defs/tree' } } }] }, loop: { $ref: '#/$defs/loop' } }
  }
  let value: object = {}
  for (let depth = 0; depth < 60; depth++) value = { a: value }
  t.equal(withoutStrictNulls(tree, { t: value })['t'], value, 'as they are')
  t.strictSame(withoutStrictNulls({ ...tree, properties: { t: { $ref: '#/$defs/loop' } } }, { t: null, u: null }), { t: null, u: null })
})

t.test('one long enum is bounded by its characters, as OpenAI bounds it', async t => {
  const form = (values: number, chars: number): object => {
    const texts = Array.from({ length: values }, (_, at) => String(at).padStart(chars, '-'))
    return strictForm({ type: 'object', properties: { a: { type: 'string', enum: texts } }, required: ['a'] })
  }
  t.match(form(251, 60), { refused: 'an enum of more than 250 values has 15060 characters, and strict mode takes 15000' })
  for (const [values, chars] of [[251, 59], [250, 100]] as const) t.match(form(values, chars), { schema: Object })
})
