import t from 'tap'
import { readJson } from '@toolyard/contract/terms'
import { entry, load, validatorOf } from './fixture.ts'
import { processorMs } from '../support/processor-time.ts'

const object = (properties: Record<string, unknown>, rest: Record<string, unknown> = {}) => ({ type: 'object', properties, ...rest })
const parsed = (text: string) => JSON.parse(text) as Record<string, unknown>

t.test('X18 each problem is named with its path and a text that a model can act on', async t => {
  const validate = await validatorOf(t, object({
    path: { type: 'string' },
    size: { type: 'integer', minimum: 1 },
    kind: { enum: ['a', 'b'] },
    day: { type: 'string', format: 'date' },
    code: { type: 'string', pattern: '^[A-Z]{2}$' },
    tags: { type: 'array', items: { type: ['string', 'null'] }, uniqueItems: true },
    fixed: { const: 1 },
    never: false,
    'a/b~c': object({}, { required: ['inner'] })
  }, { required: ['path'], additionalProperties: false }))
  t.strictSame(validate({ size: 0, kind: 'c', foo: 1 }), {
    ok: false,
    issues: [
      { path: '/path', message: 'is required' },
      { path: '/foo', message: 'unknown argument "foo"' },
      { path: '/size', message: 'must be >= 1' },
      { path: '/kind', message: 'must be one of "a", "b"' }
    ]
  })
  t.strictSame(validate({ path: 1, day: '2026-13-01', code: 'x', tags: [1, 1], fixed: 2, never: 1, 'a/b~c': {} }), {
    ok: false,
    issues: [
      { path: '/path', message: 'must be string' },
      { path: '/day', message: 'must match format "date"' },
      { path: '/code', message: 'must match pattern "^[A-Z]{2}$"' },
      { path: '/tags/0', message: 'must be string or null' },
      { path: '/tags/1', message: 'must be string or null' },
      { path: '/tags', message: 'must not have equal items' },
      { path: '/fixed', message: 'must be 1' },
      { path: '/never', message: 'is not allowed' },
      { path: '/a~1b~0c/inner', message: 'is required' }
    ]
  })
})

t.test('the path of a problem of all arguments is /', async t => {
  const validate = await validatorOf(t, { type: 'object', minProperties: 1 })
  t.match(validate({}), { ok: false, issues: [{ path: '/', message: 'must NOT have fewer than 1 properties' }] })
})

t.test('X18 types are not coerced', async t => {
  const validate = await validatorOf(t, object({ n: { type: 'integer' }, s: { type: 'string' }, b: { type: 'boolean' }, a: { type: 'array' } }))
  for (const args of [{ n: '1' }, { n: 1.5 }, { n: null }, { s: 1 }, { b: 'true' }, { b: 0 }, { a: 'x' }]) t.notOk(validate(args).ok)
  t.ok(validate({ n: 1, s: '', b: false, a: [] }).ok)
})

t.test('X17 defaults are applied to a copy, at every level', async t => {
  const validate = await validatorOf(t, object({
    path: { type: 'string', default: '.' },
    deep: object({ list: { type: 'array', default: [1] } }),
    rows: { type: 'array', items: object({ n: { default: 0 } }) }
  }))
  const args = { deep: {}, rows: [{}, { n: 2 }] }
  t.strictSame(validate(args), { ok: true, arguments: { path: '.', deep: { list: [1] }, rows: [{ n: 0 }, { n: 2 }] } })
  t.strictSame(args, { deep: {}, rows: [{}, { n: 2 }] })
  const first = validate({ deep: {} })
  if (first.ok) (first.arguments['deep'] as { list: number[] }).list.push(2)
  t.match(validate({ deep: {} }), { arguments: { deep: { list: [1] } } }, 'one call cannot change the default of the next')
})

t.test("defaults that don't fit their own schema are not filled in, so that a call without them runs", async t => {
  const unfit = {
    null: { type: 'string', default: null },
    text: { type: 'integer', default: '10' },
    other: { enum: ['a', 'b'], default: 'c' },
    constant: { const: 1, default: 2 },
    short: { type: 'string', minLength: 2, default: 'x' },
    small: { type: 'number', minimum: 1, default: 0 },
    form: { type: 'string', format: 'date', default: 'today' },
    pattern: { type: 'string', pattern: '^[a-z]+$', default: '1' },
    list: { type: 'array', items: { type: 'string' }, default: [1] },
    object: object({}, { required: ['a'], default: {} }),
    choice: { anyOf: [{ type: 'string' }, { type: 'integer' }], default: true },
    referred: { $ref: '#/$defs/text', default: 1 }
  }
  const fit = {
    kept: { type: 'string', default: 'x' },
    nullable: { type: 'string', nullable: true, default: null },
    nested: object({ a: { type: 'string', default: 'y' }, b: { type: 'string', default: 1 } }, { required: ['a'], default: {} })
  }
  const validate = await validatorOf(t, object({ ...unfit, ...fit }, { $defs: { text: { type: 'string' } } }))
  t.strictSame(validate({}), { ok: true, arguments: { kept: 'x', nullable: null, nested: { a: 'y' } } })
})

t.test('arguments that fail are left as they were', async t => {
  const validate = await validatorOf(t, object({ a: { default: 1 }, b: { type: 'string' } }))
  const args = { b: 1 }
  t.notOk(validate(args).ok)
  t.strictSame(args, { b: 1 })
})

t.test('names of the prototype are ordinary arguments', async t => {
  const strict = await validatorOf(t, object({ a: {} }, { additionalProperties: false }))
  t.match(strict(parsed('{"__proto__":{"a":1},"constructor":1,"toString":1}')), {
    issues: [{ message: 'unknown argument "__proto__"' }, { message: 'unknown argument "constructor"' }, { message: 'unknown argument "toString"' }]
  })
  const required = await validatorOf(t, { type: 'object', required: ['constructor', 'toString'] })
  t.notOk(required({}).ok, 'an inherited property is no argument')
  const named = await validatorOf(t, object({ constructor: { type: 'string' } }))
  t.ok(named({}).ok)
  t.notOk(named({ constructor: 1 }).ok)
  const loose = await validatorOf(t, object({ a: { default: 1 } }))
  const result = loose(parsed('{"__proto__":{"polluted":true}}'))
  t.equal(JSON.stringify(result), '{"ok":true,"arguments":{"__proto__":{"polluted":true},"a":1}}')
  t.notOk('polluted' in {}, 'no prototype was changed')
  t.notOk(result.ok && 'polluted' in result.arguments)
})

t.test('X18 a name that is not allowed is named in the problem', async t => {
  const validate = await validatorOf(t, { type: 'object', propertyNames: { pattern: '^[a-z]+$' } })
  t.strictSame(validate({ ok: 1, A1: 1 }), {
    ok: false,
    issues: [{ path: '/A1', message: 'has a name that must match pattern "^[a-z]+$"' }, { path: '/A1', message: 'has a name that is not allowed' }]
  })
})

t.test('X17 defaults of arguments that are named like members of the prototype are applied', async t => {
  const named = await validatorOf(t, object({ constructor: { type: 'string', default: 'c' }, deep: object({ toString: { default: 1 } }) }))
  const result = named({ deep: {} })
  t.equal(JSON.stringify(result), '{"ok":true,"arguments":{"deep":{"toString":1},"constructor":"c"}}')
  t.ok(result.ok && Object.getPrototypeOf(result.arguments) === Object.prototype)
  t.notOk(named({ constructor: 1 }).ok)
})

t.test('at most ten problems are named, and their texts are cut', async t => {
  const validate = await validatorOf(t, object({}, { additionalProperties: { type: 'string' }, propertyNames: { maxLength: 9 } }))
  const many = validate(Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`a${index}`, 1])))
  t.equal(many.ok ? 0 : many.issues.length, 10)
  const long = validate({ ['x'.repeat(100_000)]: 1 })
  t.ok(!long.ok && long.issues.length > 0 && JSON.stringify(long).length < 2_000)
})

t.test('300,000 bad items are refused at once', async t => {
  const validate = await validatorOf(t, object({ list: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } } }))
  const started = processorMs()
  t.match(validate({ list: new Array(300_000).fill(1) }), { ok: false, issues: [{ path: '/list/0' }] })
  t.ok(processorMs() - started < 1_000)
})

t.test('equal items are found in time proportional to their number', async t => {
  const validate = await validatorOf(t, object({ list: { type: 'array', uniqueItems: true } }))
  const list: unknown[] = Array.from({ length: 50_000 }, (_, a) => ({ a, b: [a] }))
  const started = processorMs()
  t.ok(validate({ list }).ok)
  t.notOk(validate({ list: [...list, { b: [7], a: 7 }] }).ok, 'whatever the order of their properties')
  t.ok(validate({ list: [1, '1', true, 'true', null, 'null', [1], { 0: 1 }] }).ok, 'by value and type')
  t.ok(processorMs() - started < 2_000)
})

t.test('references inside the schema are followed', async t => {
  const validate = await validatorOf(t, object({ tree: { $ref: '#/$defs/node', description: 'A tree.' } }, {
    $defs: { node: object({ value: { type: 'integer' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } }, { required: ['value'], additionalProperties: false }) }
  }))
  t.ok(validate({ tree: { value: 1, children: [{ value: 2 }] } }).ok)
  t.match(validate({ tree: { value: 1, children: [{ value: 'x' }] } }), { issues: [{ path: '/tree/children/0/value', message: 'must be integer' }] })
})

t.test('a recursive schema with a choice takes bounded time', async t => {
  const branch = (name: string) => object({ next: { $ref: '#/$defs/node' }, value: { type: 'integer' } }, { dependentRequired: { other: [name] } })
  const validate = await validatorOf(t, object({ node: { $ref: '#/$defs/node' } }, { $defs: { node: { anyOf: [branch('x'), branch('y')] } } }))
  let node: Record<string, unknown> = { value: 'x' }
  for (let level = 0; level < 90; level++) node = { next: node }
  const started = processorMs()
  t.match(validate({ node }), { ok: false, issues: [{ path: '/', message: 'is too complex to check against the schema of the tool' }] })
  t.ok(processorMs() - started < 10_000)
  t.ok(validate({ node: { value: 1, next: { value: 1 } } }).ok, 'the next call is judged afresh')
})

t.test('drafts 07, 2019-09 and 2020-12 are understood', async t => {
  const pair = [{ type: 'string' }, { type: 'integer' }]
  for (const [$schema, keyword] of [
    [undefined, 'items'],
    ['http://json-schema.org/draft-07/schema#', 'items'],
    ['http://json-schema.org/draft-07/schema', 'items'],
    ['https://json-schema.org/draft/2019-09/schema', 'items'],
    ['https://json-schema.org/draft/2020-12/schema', 'prefixItems']
  ] as const) {
    const validate = await validatorOf(t, object({ pair: { type: 'array', [keyword]: pair } }, $schema === undefined ? {} : { $schema }))
    t.ok(validate({ pair: ['a', 1] }).ok)
    t.match(validate({ pair: ['a', 'b'] }), { issues: [{ path: '/pair/1', message: 'must be integer' }] }, $schema ?? 'none')
  }
})

t.test('a schema that names no draft is read by the draft that knows its keywords', async t => {
  const refused = async (schema: object, args: Record<string, unknown>): Promise<void> => { t.notOk((await validatorOf(t, { type: 'object', ...schema }))(args).ok, JSON.stringify(schema)) }
  await refused({ dependentRequired: { a: ['b'] } }, { a: 1 })
  await refused({ properties: { a: {} }, unevaluatedProperties: false }, { b: 1 })
  await refused({ properties: { a: { prefixItems: [{ type: 'string' }] } } }, { a: [1] })
  await refused({ properties: { a: { contains: { type: 'string' }, minContains: 2 } } }, { a: ['x', 1] })
  await refused({ dependentRequired: { a: ['b'] }, properties: { a: { items: [{ type: 'string' }] } } }, { a: [1], b: 1 })
})

t.test('two tools may use the same identifier in their schemas', async t => {
  const schema = { $id: 'https://example.org/same', type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { type: 'string' } } }
  const registry = await load(t, entry({ name: 'a', schema }), entry({ name: 'b', schema: { ...schema, $defs: { a: { type: 'integer' } } } }))
  t.ok(registry.get('a')?.validate({ a: 'x' }).ok)
  t.ok(registry.get('b')?.validate({ a: 1 }).ok)
  t.notOk(registry.get('b')?.validate({ a: 'x' }).ok)
})

t.test('numbers that a double can\'t hold are compared as they were written, with as many steps as others', async t => {
  const validate = await validatorOf(t, object({
    one: { enum: [1, 9_007_199_254_740_992, { a: 9_007_199_254_740_992 }] },
    only: { const: 9_007_199_254_740_992 },
    list: { uniqueItems: true }
  }))
  const check = (text: string) => validate(readJson(text) as Record<string, unknown>)
  for (const text of ['"one":9007199254740992', '"one":{"a":9007199254740992}', '"only":9007199254740992', '"list":[9007199254740992,9007199254740993,"9007199254740993",1.0]']) {
    t.match(check(`{${text},"id":9007199254740993}`), { ok: true }, text)
  }
  t.match(check('{"one":9007199254740993}'), { ok: false, issues: [{ path: '/one', message: /^must be one of 1, 9007199254740992/ }] })
  t.match(check('{"one":{"a":9007199254740993}}'), { ok: false, issues: [{ path: '/one' }] })
  t.match(check('{"only":9007199254740993}'), { ok: false, issues: [{ path: '/only', message: 'must be 9007199254740992' }] })
  t.match(check('{"list":[9007199254740993,2,9007199254740993]}'), { ok: false, issues: [{ path: '/list', message: 'must not have equal items' }] })
  t.match(check('{"list":[1.0,9007199254740993,1]}'), { ok: false, issues: [{ path: '/list' }] })
  const choices = await validatorOf(t, object({ any: { anyOf: Array.from({ length: 200 }, (_, value) => ({ enum: [value] })) } }))
  const large = `{"any":[9007199254740993${',1'.repeat(100_000)}]}`
  t.match(choices(readJson(large) as Record<string, unknown>), { ok: false, issues: [{ message: /is too complex to check/ }] })
})
