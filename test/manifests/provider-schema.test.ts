import t, { type Test } from 'tap'
import type { ToolFormat } from '@toolyard/contract'
import { pointerTarget } from '@toolyard/contract/terms'
import { admitCall, lintForModels, providerTools } from '@toolyard/manifests'
import { loadProject } from './project.ts'

const everybody = { jobTypes: { get: () => ({}) }, permissions: { allowed: [], defaults: [] } } as never
const text = { type: 'string' }

interface Sent { type?: unknown, properties?: Record<string, unknown>, required?: unknown }

async function sent (t: Test, schema: unknown, format: ToolFormat = 'chat'): Promise<Sent> {
  const registry = await loadProject(t, { 'tools.json': { tools: [{ name: 'probe', description: 'Looks at what it gets.', schema, command: ['/bin/true'] }] } })
  const { tool } = registry.get('probe') ?? t.fail('the tool is served') as never
  const shown = providerTools(format, false)(tool)
  if ('input_schema' in shown) return shown.input_schema
  if ('parametersJsonSchema' in shown) return shown.parametersJsonSchema
  if ('toolSpec' in shown) return shown.toolSpec.inputSchema.json
  return 'parameters' in shown ? shown.parameters : shown.function.parameters
}

for (const [what, schema] of [['no keywords', {}], ['no properties', { type: 'object' }], ['no type', { properties: {} }], ['a list as type', { type: ['object'], properties: {} }], ['null beside the object', { type: ['object', 'null'], properties: {} }]] as const) {
  t.test(`a schema with ${what} is sent as an object with properties`, async t => {
    for (const format of ['chat', 'responses', 'anthropic'] as const) t.match(await sent(t, schema, format), { type: 'object', properties: {} })
  })
}

t.test('Bedrock gets a description in any case: it refuses an empty one, and the whole request with it', async t => {
  const registry = await loadProject(t, { 'tools.json': { tools: [{ name: 'probe', schema: { type: 'object', properties: {} }, command: ['/bin/true'] }] } })
  const { tool } = registry.get('probe') ?? t.fail('the tool is served') as never
  t.match(providerTools('bedrock', false)(tool), { toolSpec: { name: 'probe', description: 'probe' } })
  t.match(providerTools('chat', false)(tool), { function: { description: '' } })
})

t.test('a list without items gets some, however deep it is; one with a list of items has prefixItems', async t => {
  const schema = { type: 'object', properties: { a: { type: 'array' }, b: { type: 'object', properties: { c: { type: ['array', 'null'] } } }, d: { type: 'array', items: [text] }, e: { type: 'array', items: text } } }
  t.strictSame((await sent(t, schema)).properties, {
    a: { type: 'array', items: {} }, b: { type: 'object', properties: { c: { type: ['array', 'null'], items: {} } } }, d: { type: 'array', prefixItems: [text], items: {} }, e: { type: 'array', items: text }
  })
})

t.test('a property that is true or false is an object, however deep it is: Ollama reads no other one', async t => {
  const schema = { type: 'object', properties: { a: true, b: { type: 'object', properties: { c: false, d: text } }, e: { type: 'array', items: { properties: { f: true } } } } }
  for (const format of ['chat', 'gemini'] as const) {
    t.strictSame((await sent(t, schema, format)).properties, {
      a: {}, b: { type: 'object', properties: { c: { not: {} }, d: text } }, e: { type: 'array', items: { properties: { f: {} } } }
    })
  }
})

t.test('choices at the top are written out: all properties, and those required that every branch requires', async t => {
  const branches = [{ properties: { a: text, x: text }, required: ['a', 'x'] }, { properties: { b: text, x: { type: 'integer' } }, required: ['b', 'x'] }]
  for (const keyword of ['anyOf', 'oneOf']) {
    t.strictSame(await sent(t, { type: 'object', [keyword]: branches }, 'anthropic'), {
      type: 'object', properties: { a: text, x: { anyOf: [text, { type: 'integer' }] }, b: text }, required: ['x']
    })
  }
  t.strictSame(await sent(t, { type: 'object', allOf: branches.slice(0, 1), properties: { c: text }, required: ['c'] }), {
    type: 'object', properties: { c: text, a: text, x: text }, required: ['c', 'a', 'x']
  })
  t.match(await sent(t, { $ref: '#/$defs/x', $defs: { x: { type: 'object', properties: { a: text }, required: ['a'] } } }), { type: 'object', properties: { a: text }, required: ['a'] })
  t.strictSame(await sent(t, { type: 'object', properties: { a: text }, anyOf: [{ required: ['a'] }, { required: ['b'] }], not: { required: ['c'] } }), { type: 'object', properties: { a: text } })
})

t.test('a required property that is not described is sent as one of any kind', async t => {
  const inner = { type: 'object', required: ['b'] }
  t.strictSame(await sent(t, { type: 'object', properties: { a: inner }, required: ['a', 'c'] }, 'gemini'), {
    type: 'object', properties: { a: { ...inner, properties: { b: {} } }, c: {} }, required: ['a', 'c']
  })
})

t.test('patterns that not every engine takes are left out, others stay', async t => {
  const patterns = ['^\\p{L}+$', '^(?!x)y$', '^(?<!a)b$', '^[a-z]+$', '^\\\\p$']
  const schema = { type: 'object', properties: Object.fromEntries(patterns.map((pattern, at) => [`p${at}`, { type: 'string', pattern }])) }
  const { properties = {} } = await sent(t, schema)
  t.strictSame(Object.values(properties).map(each => (each as { pattern?: string }).pattern), [undefined, undefined, undefined, '^[a-z]+$', '^\\\\p$'])
})

t.test('what every provider takes is sent as it was written', async t => {
  const schema = { type: 'object', properties: { 'a.b': { anyOf: [text, { type: 'null' }] } }, required: ['a.b'], additionalProperties: false }
  for (const format of ['chat', 'responses', 'anthropic'] as const) t.equal(await sent(t, schema, format) === undefined, false)
  t.strictSame(await sent(t, schema, 'anthropic'), schema)
})

const filter = {
  type: 'object',
  properties: { 'filter[status]': text, filter_status: text, rows: { type: 'array', items: { $ref: '#/$defs/row' } } },
  required: ['filter[status]'],
  additionalProperties: false,
  $defs: { row: { type: 'object', properties: { größe: { type: 'integer' }, free: { type: 'object' } } } }
}

t.test("names of properties that Anthropic doesn't take are sent as others, and arguments get the written ones back", async t => {
  const shown = await sent(t, filter, 'anthropic')
  t.strictSame([Object.keys(shown.properties ?? {}), shown.required], [['filter_status_2', 'filter_status', 'rows'], ['filter_status_2']])
  t.strictSame(Object.keys((await sent(t, filter, 'chat')).properties ?? {}), ['filter[status]', 'filter_status', 'rows'])
  const call = async (args: Record<string, unknown>, schema: object = filter): Promise<unknown> => {
    const registry = await loadProject(t, { 'tools.json': { tools: [{ name: 'probe', description: 'Looks at what it gets.', schema, command: ['/bin/true'] }] } })
    const admitted = await admitCall({ tool: 'probe', registered: registry.get('probe'), key: {} }, args, everybody)
    return 'error' in admitted ? admitted.error.code : admitted.arguments
  }
  const written = { 'filter[status]': 'x', filter_status: 'y', rows: [{ größe: 1, free: { gr_e: 2 } }] }
  t.strictSame(await call({ filter_status_2: 'x', filter_status: 'y', rows: [{ gr_e: 1, free: { gr_e: 2 } }] }), written)
  t.strictSame(await call(written), written)
  const anchored = { type: 'object', properties: { rows: { items: { $ref: '#row' } } }, $defs: { row: { $anchor: 'row', ...filter.$defs.row } } }
  t.strictSame(await call({ rows: [{ gr_e: 1 }] }, anchored), { rows: [{ größe: 1 }] })
  t.equal(await call({ filter_status_3: 'x' }), 'INVALID_ARGUMENTS')
  const columns = Array.from({ length: 8 }, (_, at) => `column ${at}`)
  const table = { type: 'object', properties: { rows: { type: 'array', items: { type: 'object', properties: Object.fromEntries(columns.map(name => [name, text])) } } } }
  const rows = (names: readonly string[]): unknown[] => Array.from({ length: 2_500 }, () => Object.fromEntries(names.map(name => [name, 'x'])))
  const given = await call({ rows: rows(columns.map(name => name.replace(' ', '_'))) }, table)
  t.ok(JSON.stringify(given) === JSON.stringify({ rows: rows(columns) }), 'a table of 20,000 values')
})

t.test("Bedrock gets the same names: it hands a schema on to Anthropic's models, which refuse the request", async t => {
  const shown = await sent(t, filter, 'bedrock')
  t.strictSame(Object.keys(shown.properties ?? {}), ['filter_status_2', 'filter_status', 'rows'])
})

t.test('Bedrock and Gemini get no draft and no name of a schema, which they do not know', async t => {
  const schema = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: { a: text } }
  for (const format of ['bedrock', 'gemini'] as const) t.strictSame(await sent(t, schema, format), { type: 'object', properties: { a: text } })
  t.strictSame(await sent(t, schema, 'anthropic'), schema)
})

t.test('a reference leads to the same, whatever is moved or renamed', async t => {
  const headers = { type: 'object', properties: { a: text } }
  const schema = {
    type: 'object',
    properties: {
      headers, actions: { type: 'array', items: { $ref: '#/properties/headers' } },
      line: { type: 'array', items: [headers, { $ref: '#/properties/line/items/0' }] },
      'a b': text, like: { $ref: '#/properties/a%20b' }
    },
    oneOf: [{ properties: { c: headers } }, { properties: { d: { $ref: '#/oneOf/0/properties/c' } } }]
  }
  for (const format of ['chat', 'responses', 'anthropic', 'bedrock', 'gemini'] as const) {
    const shown = await sent(t, schema, format)
    const follow = (value: unknown): unknown => {
      const { $ref: reference } = value as { $ref?: string }
      return reference === undefined ? value : pointerTarget(shown, reference)
    }
    const places = ['actions/items', 'line/prefixItems/1', 'like', 'd'].map(place => pointerTarget(shown, `#/properties/${place}`))
    t.strictSame(places.map(follow), [headers, headers, text, headers], format)
  }
  const row = { type: 'object', properties: { rows: { type: 'array', items: { $ref: '#/$defs/row' } } } }
  const defined = { type: 'object', properties: { row: { $ref: '#/$defs/row' } }, $defs: { row } }
  t.strictSame(await sent(t, defined, 'anthropic'), defined, 'what leads to definitions stays')
})

t.test('Gemini gets what references lead to in their places, and of what leads to itself the type', async t => {
  const row = { type: 'object', description: 'A row.', properties: { name: text, rows: { type: 'array', items: { $ref: '#/$defs/row' } } }, required: ['rows'] }
  const schema = {
    type: 'object',
    properties: { row: { $ref: '#/$defs/row', description: 'The first one.', default: {} }, more: { allOf: [{ $ref: '#/$defs/named' }, { properties: { b: text }, required: ['b'] }], description: 'More.' }, kind: { const: 'x' } },
    $defs: { row, named: { type: 'object', properties: { a: text }, required: ['a'], additionalProperties: false } }
  }
  t.strictSame(await sent(t, schema, 'gemini'), {
    type: 'object',
    properties: {
      row: { ...row, description: 'The first one.', default: {}, properties: { name: text, rows: { type: 'array', items: { type: 'object', description: 'A row.' } } } },
      more: { type: 'object', description: 'More.', properties: { a: text, b: text }, required: ['a', 'b'] },
      kind: { type: 'string', enum: ['x'] }
    }
  })
})

t.test('references to references are written out within a bound', async t => {
  const $defs: Record<string, object> = { d0: text }
  for (let level = 1; level < 60; level++) $defs[`d${level}`] = { type: 'object', properties: { a: { $ref: `#/$defs/d${level - 1}` }, b: { $ref: `#/$defs/d${level - 1}` } } }
  const shown = JSON.stringify(await sent(t, { type: 'object', properties: { top: { $ref: '#/$defs/d59' } }, $defs }, 'gemini'))
  t.ok(shown.length < 1_000_000, `${shown.length} characters`)
  t.notOk(shown.includes('$ref'))
})

t.test('validate notes what was changed for whom', async t => {
  const notes = async (schema: unknown): Promise<string[]> =>
    lintForModels(await loadProject(t, { 'tools.json': { tools: [{ name: 'probe', description: 'Looks at what it gets.', schema, command: ['/bin/true'] }] } }))
      .filter(({ rule, severity }) => rule === 'lint/provider' && severity === 'note').map(({ message }) => message)
  t.match(await notes(filter), [/the property "filter\[status\]" is called "filter_status_2" \(anthropic, bedrock\)/, /the property "größe" is called "gr_e" \(anthropic, bedrock\)/])
  t.match(await notes({}), [/the type is "object" \(chat, responses, anthropic, gemini, bedrock\)/, /an empty "properties" is added/])
  t.match(await notes({ type: 'object', properties: {}, oneOf: [{}] }), [/"oneOf" at the top is written out/])
  t.strictSame(await notes({ type: 'object', properties: { a: text } }), [])
})

t.test('a default with more digits than a number keeps is not shown to models, which would send the rounded one', async t => {
  const tools = '{"tools":[{"name":"probe","description":"Looks.","command":["/bin/true"],"schema":{"type":"object","properties":{"id":{"type":"integer","default":725653563933458432},"n":{"type":"integer","default":7}}}}]}'
  const registry = await loadProject(t, { 'tools.json': tools })
  const { tool } = registry.get('probe') ?? t.fail('the tool is served') as never
  t.match(providerTools('chat', false)(tool), { function: { parameters: { properties: { id: { type: 'integer', default: undefined }, n: { default: 7 } } } } })
  t.ok(lintForModels(registry).some(({ message }) => message.includes('the default 725653563933458432 is left out')))
})

t.test('references that depend on the way to them are sent as plain ones', async t => {
  const recursive = {
    $schema: 'https://json-schema.org/draft/2019-09/schema', $recursiveAnchor: true, type: 'object', properties: { child: { $recursiveRef: '#' }, v: text }
  }
  const named = {
    type: 'object', properties: { rows: { $dynamicRef: '#row' }, gone: { description: 'x', $dynamicRef: '#/$defs/a~1b' } },
    $defs: { 'a/b': text, row: { $dynamicAnchor: 'row', type: 'array', items: { $dynamicRef: '#row' } } }
  }
  for (const format of ['chat', 'responses', 'anthropic', 'bedrock'] as const) {
    t.match(await sent(t, recursive, format), { properties: { child: { $ref: '#' }, v: text } }, format)
    t.match(await sent(t, named, format), {
      properties: { rows: { $ref: '#/$defs/row' }, gone: { $ref: '#/$defs/a~1b', description: 'x' } }, $defs: { row: { items: { $ref: '#/$defs/row' } } }
    }, format)
  }
  t.match(await sent(t, recursive, 'gemini'), { properties: { child: { type: 'object' }, v: text } })
  t.match(await sent(t, named, 'gemini'), { properties: { rows: { type: 'array', items: { type: 'array' } }, gone: { ...text, description: 'x' } } })
  for (const format of ['chat', 'anthropic', 'gemini'] as const) {
    for (const schema of [recursive, named]) t.notMatch(JSON.stringify(await sent(t, schema, format)), /recursive|dynamic/)
  }
})
