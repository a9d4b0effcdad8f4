import t, { type Test } from 'tap'
import { importOpenapi, type OpenapiImport } from '@toolyard/manifests'
import { loadLayers } from './fixture.ts'

// What published documents have that their authors' tools take, and specifications would not all have.

interface Parts {
  paths: Record<string, object>
  securitySchemes?: Record<string, object>
  more?: object
}

async function get ({ paths, securitySchemes = {}, more = {} }: Parts): Promise<OpenapiImport> {
  const document = { openapi: '3.0.3', info: { title: 'Shop' }, servers: [{ url: 'https://shop.example/v1' }], paths, components: { securitySchemes }, ...more }
  return await importOpenapi(JSON.stringify(document))
}

async function served (t: Test, { entries }: OpenapiImport): Promise<void> {
  const registry = await loadLayers(t, [entries as unknown as Array<Record<string, unknown>>])
  t.strictSame(registry.findings.filter(({ severity }) => severity === 'error'), [], 'every entry can be served')
}

/** An operation with a body. */
const post = (operationId: string, schema: object): object => ({ post: { operationId, requestBody: { required: true, content: { 'application/json': { schema } } } } })
const header = (name: string, required = false): object => ({ name, in: 'header', required, schema: { type: 'string' } })

t.test('a header that is a credential is a setting where it is required, and is left out where it is not: no call gives one', async t => {
  const found = await get({ paths: { '/a': { get: { operationId: 'a', parameters: [header('X-ListenAPI-Key', true), header('api_key'), header('lang')] } } } })
  t.match(found.entries, [{ name: 'a', http: { headers: { 'X-ListenAPI-Key': { setting: 'SHOP_X_LISTEN_API_KEY' }, lang: '{lang}', api_key: undefined } } }])
  t.strictSame(Object.keys(found.entries[0]?.schema['properties'] ?? {}), ['lang'])
  t.strictSame([...found.settings], [['SHOP_X_LISTEN_API_KEY', 'the value of the header X-ListenAPI-Key']])
  t.match(found.notes, [{ tool: 'a', says: 'has the header parameter api_key, a credential, which no call gives; it is left out' }])
  await served(t, found)
  const login = await get({ paths: { '/a': { get: { operationId: 'a', parameters: [header('authorization', true)] } } } })
  t.match(login.entries, [{ http: { headers: { authorization: { setting: 'SHOP_AUTHORIZATION' } } } }], 'also of an operation that has it in place of a security scheme')
})

t.test('a parameter that a security scheme sends already is no argument', async t => {
  const securitySchemes = { key: { type: 'apiKey', in: 'header', name: 'X-Shop' }, query: { type: 'apiKey', in: 'query', name: 'appid' } }
  const parameters = [header('x-shop', true), { name: 'appid', in: 'query', required: true, schema: { type: 'string' } }, { name: 'q', in: 'query', schema: { type: 'string' } }]
  const found = await get({ paths: { '/a': { get: { operationId: 'a', parameters, security: [{ key: [], query: [] }] } } }, securitySchemes })
  t.strictSame(found.entries[0]?.schema, { type: 'object', properties: { q: { type: 'string' } }, additionalProperties: false })
  t.strictSame(found.entries[0]?.http, {
    method: 'GET', url: 'https://shop.example/v1/a', query: ['q', { name: 'appid', setting: 'SHOP_QUERY' }], headers: { 'X-Shop': { setting: 'SHOP_KEY' } }
  })
  await served(t, found)
})

t.test('two credentials in one place can\'t be sent: the next alternative is taken, or the operation is left out', async t => {
  const securitySchemes = { one: { type: 'apiKey', in: 'cookie', name: 'a' }, two: { type: 'apiKey', in: 'cookie', name: 'b' }, token: { type: 'http', scheme: 'bearer' } }
  const found = await get({
    paths: { '/a': { get: { operationId: 'a', security: [{ one: [], two: [] }, { token: [] }] } }, '/b': { get: { operationId: 'b', security: [{ one: [], two: [] }] } } }, securitySchemes
  })
  t.match(found.entries, [{ name: 'a', http: { headers: { Authorization: { setting: 'SHOP_TOKEN' } } } }])
  t.match(found.leftOut, [{ operation: 'b', because: /asks for two credentials in Cookie/ }])
})

t.test('two flows for the same kind of token are one credential', async t => {
  const securitySchemes = { oauth: { type: 'oauth2', flows: {} }, oauthc: { type: 'oauth2', flows: {} } }
  const found = await get({ paths: { '/a': { get: { operationId: 'a', security: [{ oauth: ['x'], oauthc: ['x'] }] } } }, securitySchemes })
  t.match(found.entries, [{ name: 'a', http: { headers: { Authorization: { setting: 'SHOP_OAUTHC', prefix: 'Bearer ' } } } }])
  t.strictSame([...found.settings.keys()], ['SHOP_OAUTHC'])
})

t.test('what an entry can\'t hold is left out with the reason, and never written as an entry that isn\'t served', async t => {
  const found = await get({
    paths: {
      '/#/attach': { get: { operationId: 'attach' } },
      '/a b': { get: { operationId: 'blank' } },
      '/c': { get: { operationId: 'own', parameters: [header('Host', true), header('Content-Length'), header('bad name')] } },
      '/d': { get: { operationId: 'required', parameters: [header('bad name', true)] } }
    }
  })
  t.match(found.leftOut, [{ operation: 'attach', because: /fragment/ }, { operation: 'blank', because: /white space/ }, { operation: 'required', because: /has a name that can't be sent/ }])
  t.match(found.entries, [{ name: 'own', schema: { properties: {} } }])
  t.match(found.notes, [{ tool: 'own', says: /bad name.*left out/ }])
  await served(t, found)
})

t.test('a path without a slash in front stays behind the host, and a server without a scheme is one of https', async t => {
  const found = await get({ paths: { 'users/{id}': { get: { operationId: 'user' } } }, more: { servers: [{ url: '//shop.example' }] } })
  t.match(found.entries, [{ http: { url: 'https://shop.example/users/{id}' } }])
})

t.test('a path that lies in another file takes no other path away, and what an extension says is no path', async t => {
  const found = await get({ paths: { '/a': { $ref: './a.yaml' }, '/b': { get: { operationId: 'b' } }, 'x-notes': { get: {} }, '/c': {} } })
  t.strictSame(found.entries.map(({ name }) => name), ['b'])
  t.match(found.leftOut, [{ operation: '/a', because: /refers to \.\/a\.yaml, which is outside of the document/ }])
})

t.test('a server with a variable that has no value is none', async t => {
  const found = await get({ paths: { '/a': { get: { operationId: 'a' } } }, more: { servers: [{ url: 'https://{tenant}.example/{base}' }] } })
  t.match(found.leftOut, [{ operation: 'a', because: /names no server but https:\/\/\{tenant\}\.example/ }])
})

t.test('properties by patterns are kept, also where no others are allowed', async t => {
  const of = (pattern: string): object => ({ '/a': { post: { operationId: 'a', requestBody: { required: true, content: { 'application/json': { schema: { type: 'object', properties: { labels: { type: 'object', patternProperties: { [pattern]: { type: 'string', nullable: true } }, additionalProperties: false } } } } } } } } })
  const registry = await loadLayers(t, [(await get({ paths: of('^x-') as Record<string, object> })).entries as unknown as Array<Record<string, unknown>>])
  t.ok(registry.get('a')?.validate({ labels: { 'x-a': null } }).ok)
  t.notOk(registry.get('a')?.validate({ labels: { a: 'b' } }).ok)
  const free = await loadLayers(t, [(await get({ paths: of('(a+)+\\1$') as Record<string, object> })).entries as unknown as Array<Record<string, unknown>>])
  t.ok(free.get('a')?.validate({ labels: { aa: 'b' } }).ok, 'where the pattern can\'t be checked, anything may stand')
})

t.test('an id that no provider takes, or that has no letters of theirs, is a name all of them take', async t => {
  const operation = (operationId: string): object => ({ get: { operationId } })
  const found = await get({ paths: { '/a': operation('获取天气'), '/天气/{id}': operation('天气'), '/b': operation('2fa.start'), '/c': operation('-') } })
  t.strictSame(found.entries.map(({ name }) => name), ['get_a', 'get_id', 'get_2fa_start', 'get_c'])
  await served(t, found)
})

t.test('a parameter whose name providers don\'t take is described by it', async t => {
  const parameters = [{ name: '名前', in: 'query', schema: { type: 'string' } }, { name: 'größe', in: 'query', description: 'In cm', schema: { type: 'number' } }]
  const found = await get({ paths: { '/a': { get: { operationId: 'a', parameters } } } })
  t.match(found.entries, [{ schema: { properties: { _: { description: '名前' }, gr_e: { description: 'größe: In cm' } } }, http: { query: [{ argument: '_', name: '名前' }, { argument: 'gr_e', name: 'größe' }] } }])
})

t.test('values that stand twice in a list stand once, and what version 3.0 has is read in 3.1 as well', async t => {
  const schema = { type: 'object', required: ['size', 'size'], properties: { size: { type: 'string', enum: ['s', 'm', 's'] }, count: { type: 'integer', minimum: 0, exclusiveMinimum: true, nullable: true } } }
  const found = await get({ paths: { '/a': { post: { operationId: 'a', requestBody: { required: true, content: { 'text/json': { schema } } } } } }, more: { openapi: '3.1.0' } })
  t.match(found.entries, [{ schema: { required: ['size'], properties: { size: { enum: ['s', 'm'] }, count: { type: ['integer', 'null'], exclusiveMinimum: 0 } } }, http: { body: 'json' } }])
  await served(t, found)
})

t.test('a part that may be null and refers to another may be null', async t => {
  const schema = { type: 'object', properties: { size: { nullable: true, allOf: [{ $ref: '#/components/schemas/Size' }] } } }
  const more = { components: { schemas: { Size: { type: 'string', enum: ['s', 'm'] } } } }
  const found = await get({ paths: { '/a': { post: { operationId: 'a', requestBody: { content: { 'application/json': { schema } } } } } }, more })
  t.match(found.entries, [{ schema: { properties: { size: { type: ['string', 'null'], enum: ['s', 'm', null] } } } }])
})

t.test('an operation that says nothing of itself is described by its method and path', async t => {
  t.match((await get({ paths: { '/a/{id}': { get: { operationId: 'a', summary: ' ' } } } })).entries, [{ description: 'GET /a/{id}' }])
})

t.test('what fits two choices of oneOf is taken, as services take it: documents rarely tell their choices apart', async t => {
  const of = (schema: object): object => ({ post: { operationId: 'act', requestBody: { required: true, content: { 'application/json': { schema } } } } })
  const action = { type: 'object', required: ['type'], properties: { type: { type: 'string', enum: ['enable_backups', 'reboot'] } } }
  const snapshot = { type: 'object', required: ['type'], properties: { type: { type: 'string' }, name: { type: 'string' } } }
  const pet = { oneOf: [action, snapshot], nullable: true, discriminator: { propertyName: 'type' } }
  const found = await get({ paths: { '/a': of(pet), '/b': of({ type: 'object', properties: { both: { anyOf: [{ minimum: 1 }], oneOf: [{ type: 'integer' }, { multipleOf: 0.5 }] } } }) } })
  t.match(found.entries, [{ schema: { properties: { body: { anyOf: [{ type: 'object' }, { type: 'object' }, { type: 'null' }], oneOf: undefined } } } }, { schema: { properties: { both: { anyOf: [{}], oneOf: [{}, {}] } } } }])
  const registry = await loadLayers(t, [found.entries as unknown as Array<Record<string, unknown>>])
  t.ok(registry.get('act')?.validate({ body: { type: 'enable_backups' } }).ok)
  t.notOk(registry.get('act')?.validate({ body: { name: 'x' } }).ok)
})

t.test('a property that is of answers alone by its reference, or by a part of it, is not asked for', async t => {
  const Connection = { type: 'object', properties: { uri: { type: 'string' } } }
  const properties = { name: { type: 'string' }, id: { $ref: '#/components/schemas/Id' }, connection: { allOf: [{ $ref: '#/components/schemas/Connection' }, { readOnly: true }] } }
  const schema = { type: 'object', required: ['name', 'id'], properties }
  const more = { components: { schemas: { Id: { type: 'string', readOnly: true }, Connection } } }
  const found = await get({ paths: { '/a': { post: { operationId: 'a', requestBody: { required: true, content: { 'application/json': { schema } } } } } }, more })
  t.strictSame(found.entries[0]?.schema, { type: 'object', properties: { name: { type: 'string' } }, required: ['name'], additionalProperties: false })
})

t.test('of several patches one that is an object is sent: Kubernetes describes all by an object, and names JSON Patch, a list, first', async t => {
  const schema = { type: 'object', description: 'A patch.' }
  const of = (...types: string[]): object => ({ patch: { operationId: 'p', requestBody: { required: true, content: Object.fromEntries(types.map(type => [type, { schema }])) } } })
  const several = await get({ paths: { '/a': of('application/json-patch+json', 'application/merge-patch+json', 'application/strategic-merge-patch+json') } })
  t.match(several.entries, [{ http: { headers: { 'Content-Type': 'application/merge-patch+json' }, body: { type: 'json', argument: 'body' } } }])
  t.match((await get({ paths: { '/a': of('application/json-patch+json') } })).entries, [{ http: { headers: { 'Content-Type': 'application/json-patch+json' } } }])
})

t.test('a default of what may be missing is told in the description, since some clients send what stands as one, and an update would set it', async t => {
  const settings = { type: 'object', required: ['mode'], properties: { mode: { type: 'string', default: 'strict' }, level: { type: 'string', default: 'low' } } }
  const properties = {
    private: { type: 'boolean', default: false, description: 'Whether it is private' },
    archived: { type: 'boolean', default: false, description: 'Default: `false`' },
    topics: { type: 'array', items: settings },
    default: { type: 'string', default: 'x'.repeat(200) }
  }
  const content = { 'application/json': { schema: { type: 'object', properties } } }
  const parameters = [{ name: 'page', in: 'query', schema: { type: 'integer', default: 1 } }, { name: 'version', in: 'query', required: true, schema: { type: 'string', default: '2' } }]
  const found = await get({ paths: { '/a': { patch: { operationId: 'a', parameters, requestBody: { content } } } } })
  t.strictSame(found.entries[0]?.schema['properties'], {
    page: { type: 'integer', description: 'Default: 1.' },
    version: { type: 'string', default: '2' },
    private: { type: 'boolean', description: 'Whether it is private. Default: false.' },
    archived: { type: 'boolean', description: 'Default: `false`' },
    topics: { type: 'array', items: { ...settings, properties: { mode: settings.properties.mode, level: { type: 'string', description: 'Default: "low".' } } } },
    default: { type: 'string' }
  })
  await served(t, found)
})

t.test('an object in the query whose fields are sent by themselves gives an argument for each, as frameworks of Java describe it', async t => {
  const page = { type: 'object', required: ['page'], properties: { page: { type: 'integer', description: 'From 0.' }, sort: { type: 'array', items: { type: 'string' } }, within: { type: 'object', properties: { a: {} } } } }
  const parameters = (required: boolean, more: object = {}): object[] => [{ name: 'q', in: 'query', schema: { type: 'string' } }, { name: 'pageable', in: 'query', required, schema: { $ref: '#/components/schemas/Page' }, ...more }]
  const paths = {
    '/a': { get: { operationId: 'a', parameters: parameters(true) } }, '/b': { get: { operationId: 'b', parameters: parameters(false) } },
    '/c': { get: { operationId: 'c', parameters: parameters(false, { explode: false }) } }, '/d': { get: { operationId: 'd', parameters: [{ name: 'any', in: 'query', schema: { type: 'object' } }] } }
  }
  const found = await importOpenapi(JSON.stringify({ openapi: '3.0.3', info: { title: 'Shop' }, servers: [{ url: 'https://shop.example/v1' }], paths, components: { schemas: { Page: page } } }))
  const fields = { q: { type: 'string' }, page: { type: 'integer', description: 'From 0.' }, sort: { type: 'array', items: { type: 'string' } } }
  t.match(found.entries, [
    { name: 'a', schema: { properties: fields, required: ['page'] }, http: { query: ['q', 'page', 'sort'] } },
    { name: 'b', schema: { properties: fields, required: undefined } },
    { name: 'c', schema: { properties: { q: { type: 'string' }, page: undefined } } }, { name: 'd', http: { query: undefined } }
  ])
  t.match(found.notes.map(({ tool, says }) => `${tool}: ${says}`), [/^a: has the query parameter within, an object by the style form; it is left out/, /^b: .*within/, /^c: has the query parameter pageable, an object/, /^d: has the query parameter any/])
  await served(t, found)
})

t.test('what a body requires can be sent, also where the document does not describe it, or one of its parts requires it', async t => {
  const name = { type: 'string' }
  const base = { type: 'object', required: ['name', 'id'], properties: { name, id: { type: 'integer', readOnly: true } } }
  const schemas = {
    undescribed: { type: 'object', required: ['name', 'kind'], properties: { name, inner: { type: 'object', required: ['x', 'y'], properties: { x: name } } } },
    beside: { type: 'object', required: ['note'], properties: { note: name }, allOf: [base] },
    single: { type: 'object', required: ['note'], allOf: [base] },
    part: { allOf: [{ type: 'object', properties: { name, note: name } }, { required: ['note'] }] },
    answers: { allOf: [{ type: 'object', required: ['id', 'name'], properties: { note: name } }, base] }
  }
  const paths = Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [`/${id}`, post(id, schema)]))
  const found = await get({ paths })
  const [undescribed, ...others] = found.entries.map(({ schema }) => schema)
  t.strictSame(undescribed, {
    type: 'object', properties: { name, inner: { type: 'object', properties: { x: name, y: {} }, required: ['x', 'y'] }, kind: {} }, required: ['name', 'kind'], additionalProperties: false
  })
  const object = (required: string[]): object => ({ type: 'object', properties: Object.fromEntries(required.map(each => [each, name])), required, additionalProperties: false })
  t.strictSame(others, [
    object(['name', 'note']),
    { ...object(['name']), properties: { name, note: {} }, required: ['name', 'note'] },
    { ...object(['name', 'note']), required: ['note'] },
    { ...object(['note', 'name']), required: ['name'] }
  ])
  t.strictSame(found.notes, [['undescribed', 'y'], ['undescribed', 'kind'], ['single', 'note']].map(([tool, field]) => (
    { tool, says: `requires ${field}, which is not described: anything may stand there` }
  )))
  await served(t, found)
})

t.test('a choice has the text by which it is known, and what others extend takes fields of theirs', async t => {
  const kind = { type: 'string' }
  const schemas = {
    Cat: { type: 'object', required: ['kind'], properties: { kind, claws: { type: 'boolean' } } },
    Dog: { type: 'object', required: ['kind'], properties: { kind: { type: 'string', enum: ['dog'] } } },
    Pet: { oneOf: ['Cat', 'Dog'].map(name => ({ $ref: `#/components/schemas/${name}` })), discriminator: { propertyName: 'kind', mapping: { cat: '#/components/schemas/Cat', kitten: 'Cat', dog: 'Dog' } } },
    Animal: { type: 'object', required: ['kind'], properties: { kind }, discriminator: { propertyName: 'kind' } },
    Fish: { allOf: [{ $ref: '#/components/schemas/Animal' }, { type: 'object', properties: { fins: { type: 'integer' } } }] }
  }
  const found = await get({ paths: { '/a': post('pet', schemas.Pet), '/b': post('animal', schemas.Animal), '/c': post('fish', schemas.Fish) }, more: { components: { schemas } } })
  const [pet, animal, fish] = found.entries.map(({ schema }) => schema['properties'])
  t.strictSame(pet, { body: { anyOf: [{ ...schemas.Cat, properties: { kind: { type: 'string', enum: ['cat', 'kitten'] }, claws: { type: 'boolean' } } }, schemas.Dog] } })
  t.strictSame(animal, { body: { type: 'object', required: ['kind'], properties: { kind }, additionalProperties: true } })
  t.strictSame(fish, { kind, fins: { type: 'integer' } })
  t.strictSame(found.notes, [{ tool: 'animal', says: 'has kinds by kind, whose fields are not described: all may be sent' }])
  await served(t, found)
})
