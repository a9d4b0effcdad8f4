import fc from 'fast-check'
import t, { type Test } from 'tap'
import { Type } from 'typebox'
import { changeLock, loadRegistry } from '@toolyard/manifests'
import { entry, errors, load, loadTexts, validatorOf } from './fixture.ts'
import { soundTool } from './project.ts'

type Schema = Record<string, unknown>

const tree = { type: 'object', properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: 'Node' } } }, required: ['name'] }
const [fitting, unfit] = [{ root: { name: 'a', children: [{ name: 'b' }] } }, { root: { name: 'a', children: [{ name: 1 }] } }]

/** Schemas of the same tree, with identifiers as different tools write them. */
const written: Record<string, Schema> = {
  'an identifier where the schema stands': { type: 'object', properties: { root: { $id: 'Node', ...tree } } },
  'definitions with identifiers, as TypeBox writes them': { type: 'object', properties: { root: Type.Cyclic({ Node: Type.Object({ name: Type.String(), children: Type.Optional(Type.Array(Type.Ref('Node'))) }) }, 'Node') } },
  'schemas in one document, as bundlers write them': {
    $schema: 'https://json-schema.org/draft/2020-12/schema', $id: 'https://example.org/tools/tree.json', type: 'object',
    properties: { root: { $ref: 'Node#' } }, $defs: { 'https://example.org/tools/Node': { $id: 'Node', ...tree } }
  },
  'its own address': { $id: 'https://example.org/t.json', type: 'object', properties: { root: { ...tree, properties: { ...tree.properties, children: { items: { $ref: 'https://example.org/t.json#/properties/root' } } } } } },
  'an anchor of an inner schema': { type: 'object', properties: { root: { $ref: 'urn:example:trees#top' } }, $defs: { trees: { $id: 'urn:example:trees', definitions: { a: { $anchor: 'top', ...tree, properties: { ...tree.properties, children: { items: { $ref: '#/definitions/a' } } } } } } } },
  'an anchor': { type: 'object', properties: { root: { $ref: '#node' } }, $defs: { node: { $anchor: 'node', ...tree, properties: { ...tree.properties, children: { items: { $ref: '#node' } } } } } },
  'an identifier that is a fragment': { type: 'object', properties: { root: { $ref: '#Bäume' } }, definitions: { node: { $id: '#Bäume', ...tree, properties: { ...tree.properties, children: { items: { $ref: '#B%C3%A4ume' } } } } } }
}

for (const [what, schema] of Object.entries(written)) {
  t.test(`a reference to an identifier is followed: ${what}`, async t => {
    const validate = await validatorOf(t, schema)
    t.match(validate(fitting), { ok: true, arguments: fitting })
    t.match(validate(unfit), { ok: false, issues: [{ path: ['', 'root', 'children', '0', 'name'].join('/'), message: 'must be string' }] })
  })

  t.test(`models read pointers in place of identifiers: ${what}`, async t => {
    const registry = await load(t, entry({ schema }))
    const inner = JSON.stringify({ ...registry.get('probe')?.tool.parameters, $id: undefined })
    t.notMatch(inner, /"\$id"|"\$anchor"/)
    for (const [, reference = ''] of inner.matchAll(/"\$ref":"([^"]*)"/g)) t.match(reference, /^#[/](?!%)/)
  })
}

t.test('each kind of manifest has such schemas', async t => {
  const root = { $id: 'Node', type: 'object', properties: tree.properties }
  const schema = { type: 'object', properties: { root } }
  const wanted = { properties: { root: { properties: { children: { items: { $ref: '#/properties/root' } } } } } }
  const { files } = await loadTexts(t, [JSON.stringify({ tools: [entry({ schema }), { name: 'http', schema, http: { method: 'GET', url: 'https://api.example/v1' } }, { name: 'files', mcp: { command: 'files-server' } }] })])
  await changeLock(files[0] ?? '', () => new Map([['files', [{ name: 'read', inputSchema: schema, outputSchema: schema }]]]))
  const registry = await loadRegistry({ manifests: files, builtins: false })
  t.strictSame(errors(registry), [])
  for (const name of ['probe', 'http', 'files_read']) t.match(registry.get(name)?.tool.parameters, wanted, name)
  t.match(registry.get('files_read')?.tool.run, { outputSchema: wanted })
  const python = await soundTool(t, { inputs: { root }, outputs: { root } })
  t.match(python, { parameters: wanted, run: { outputs: wanted.properties } })
})

t.test('what leads out of a schema is refused, with identifiers in it too', async t => {
  for (const reference of ['Other', 'https://example.org/Node', 'Node#/properties/gone', 'Node#gone', '../Node']) {
    const schema = { type: 'object', properties: { root: { $id: 'inner/Node', type: 'object', properties: { next: { $ref: reference } } } } }
    const registry = await load(t, entry({ schema }))
    if (reference.startsWith('Node#/')) t.match(errors(registry), [{ rule: 'A6', message: /does not compile/ }], reference)
    else t.match(errors(registry), [{ rule: 'A6', message: /which is outside of it/ }], reference)
  }
})

t.test('a schema whose references are pointers is published as it is written, with its identifier and its anchors', async t => {
  const schema = { $id: 'https://example.org/a', type: 'object', properties: { a: { $ref: '#/$defs/a' }, b: { $ref: '#/$defs/b' } }, $defs: { a: { type: 'string' }, b: { $anchor: 'b', type: 'integer' } } }
  const registry = await load(t, entry({ schema }))
  t.strictSame(registry.get('probe')?.tool.parameters, schema)
})

t.test('data that looks like an identifier or a reference stays as it is', async t => {
  const data = { $id: 'Node', $ref: 'Node', $anchor: 'a' }
  const schema = { type: 'object', properties: { root: { $id: 'Node', type: 'object', properties: { $id: { const: data }, $ref: { default: data }, x: { $ref: 'Node' } } } } }
  const registry = await load(t, entry({ schema }))
  t.match(registry.get('probe')?.tool.parameters, { properties: { root: { properties: { $id: { const: data }, $ref: { default: data }, x: { $ref: '#/properties/root' } } } } })
})

t.test('an example, as OpenAPI has it, is data: of draft-04 as well, where id is an identifier', async t => {
  const [example, $schema] = [{ id: 'i-1', $ref: 'Node' }, 'http://json-schema.org/draft-04/schema#']
  const registry = await load(t, entry({ schema: { $schema, type: 'object', properties: { root: { type: 'object', example } } } }))
  t.strictSame(errors(registry), [])
  t.strictSame(registry.get('probe')?.tool.parameters['properties'], { root: { type: 'object', example } })
})

/** Schemas as older libraries write them, what models read of them, and values that fit and don't. */
const older: Array<[what: string, written: Schema, read: Schema, fits: Schema, doesNot: Schema]> = [
  ['bounds of draft-04', { $schema: 'http://json-schema.org/draft-04/schema#', type: 'object', properties: { n: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false } } },
    { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: { n: { type: 'number', exclusiveMinimum: 0, maximum: 9 } } }, { n: 9 }, { n: 0 }],
  ['identifiers of draft-04', { $schema: 'http://json-schema.org/draft-04/schema', id: 'https://example.org/a', type: 'object', properties: { id: { type: 'integer' }, next: { $ref: '#id' } }, definitions: { id: { id: '#id', type: 'string' } } },
    { $schema: 'http://json-schema.org/draft-07/schema#', $id: 'https://example.org/a', type: 'object', properties: { id: { type: 'integer' }, next: { $ref: '#/definitions/id' } }, definitions: { id: { type: 'string' } } }, { id: 1, next: 'a' }, { next: 1 }],
  ['a schema of draft-06', { $schema: 'http://json-schema.org/draft-06/schema#', type: 'object', properties: { c: { const: 1 } } },
    { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: { c: { const: 1 } } }, { c: 1 }, { c: 2 }]
]

for (const [what, schema, read, fits, doesNot] of older) {
  t.test(`a schema of an older draft is read as it means, and models get the current keywords: ${what}`, async t => {
    const registry = await load(t, entry({ schema }))
    const tool = registry.get('probe')
    t.strictSame(errors(registry), [])
    t.strictSame(tool?.tool.parameters, read)
    t.ok(tool?.validate(fits).ok)
    t.notOk(tool?.validate(doesNot).ok)
  })
}

t.test('a $schema without a version counts as none', async t => {
  for (const $schema of ['http://json-schema.org/schema#', 'https://json-schema.org/schema']) {
    const validate = await validatorOf(t, { $schema, type: 'object', dependentRequired: { a: ['b'] } })
    t.notOk(validate({ a: 1 }).ok)
  }
})

t.test('references by identifiers judge as the same references by pointers do', async t => {
  const names = ['A', 'B', 'C'] as const
  const leaf = fc.constantFrom<Schema>({ type: 'integer' }, { type: 'string' }, { type: 'boolean' })
  const kinds = fc.record({ shape: fc.constantFrom('items', 'properties', 'anyOf'), own: leaf, to: fc.constantFrom(...names) })
  const value = fc.letrec(tie => ({ value: fc.oneof({ maxDepth: 3 }, fc.integer(), fc.string({ maxLength: 2 }), fc.boolean(), fc.array(tie('value'), { maxLength: 2 }), fc.record({ x: tie('value') })) })).value
  await fc.assert(fc.asyncProperty(fc.tuple(kinds, kinds, kinds), fc.array(value, { minLength: 1, maxLength: 10 }), fc.constantFrom('https://example.org/x/', 'urn:example:', ''), async (definitions, values, base) => {
    const document = (nameOf: (name: string) => string, idOf: (name: string) => Schema): Schema => {
      const part = ({ shape, own, to }: typeof definitions[number]): Schema => {
        const next = { $ref: nameOf(to) }
        if (shape === 'items') return { type: 'array', items: next }
        return shape === 'properties' ? { type: 'object', properties: { x: next } } : { anyOf: [own, { type: 'array', items: next }] }
      }
      return { type: 'object', properties: { v: { $ref: nameOf('A') } }, $defs: Object.fromEntries(names.map((name, at) => [name, { ...idOf(name), ...part(definitions[at] ?? definitions[0]) }])) }
    }
    const [plain, identified] = await judges(t, document(name => `#/$defs/${name}`, () => ({})), document(name => base + name, name => ({ $id: base + name })))
    for (const v of values) t.equal(identified?.({ v }).ok, plain?.({ v }).ok, JSON.stringify({ v, definitions }))
  }), { numRuns: 40 })
})

async function judges (t: Test, ...schemas: Schema[]) {
  const registry = await load(t, ...schemas.map((schema, at) => entry({ name: `probe_${at}`, schema })))
  return schemas.map((_, at) => {
    const tool = registry.get(`probe_${at}`)
    if (tool === undefined) throw new Error(`the schema was refused: ${errors(registry)[0]?.message}`)
    return tool.validate.bind(tool)
  })
}
