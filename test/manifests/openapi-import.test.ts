import t from 'tap'
import { importOpenapi, loadRegistry, OpenapiFault, type ImportOptions, type OpenapiImport } from '@toolyard/manifests'
import { errors, loadLayers } from './fixture.ts'

const petstore30 = {
  openapi: '3.0.3',
  info: { title: 'Swagger Petstore', version: '1.0.0' },
  servers: [{ url: 'https://{region}.petstore.example/api/v1/', variables: { region: { default: 'eu' } } }],
  security: [{ api_key: [] }],
  paths: {
    '/pets': {
      parameters: [{ name: 'X-Trace', in: 'header', schema: { type: 'string' } }],
      get: {
        operationId: 'listPets',
        summary: 'List all pets',
        tags: ['pets'],
        parameters: [
          { $ref: '#/components/parameters/limit' },
          { name: 'tags', in: 'query', style: 'form', explode: false, schema: { type: 'array', items: { type: 'string' } } },
          { name: 'filter[status]', in: 'query', schema: { type: 'string', enum: ['sold', 'free'], nullable: true } },
          { name: 'where', in: 'query', style: 'deepObject', explode: true, schema: { type: 'object', properties: { color: { type: 'string' } } } },
          { name: 'session', in: 'cookie', schema: { type: 'string' } }
        ]
      },
      post: {
        operationId: 'createPets',
        tags: ['pets'],
        requestBody: { required: true, content: { 'application/json': { schema: { $ref: '#/components/schemas/NewPet' } } } }
      }
    },
    '/pets/{petId}': {
      get: { operationId: 'show pet/by id', parameters: [{ name: 'petId', in: 'path', required: true, schema: { type: 'string' } }], security: [] },
      put: {
        operationId: 'replacePet',
        requestBody: { required: true, content: { 'application/x-www-form-urlencoded': { schema: { type: 'object', properties: { petId: { type: 'string' }, name: { type: 'string' } } } } } }
      }
    },
    '/pets/{petId}/photo': { post: { operationId: 'uploadPhoto', requestBody: { required: true, content: { 'multipart/form-data': { schema: { type: 'object' } } } } } },
    '/matrix/{id}': { get: { operationId: 'matrix', parameters: [{ name: 'id', in: 'path', required: true, style: 'matrix', schema: { type: 'string' } }] } },
    '/remote': { get: { operationId: 'remote', parameters: [{ name: 'q', in: 'query', required: true, schema: { $ref: 'https://other.example/schemas.json#/Q' } }] } },
    '/mutual': { get: { operationId: 'mutual', security: [{ cert: [] }] } }
  },
  components: {
    parameters: { limit: { name: 'limit', in: 'query', description: 'How many', schema: { type: 'integer', format: 'int32', minimum: 0, exclusiveMinimum: true, maximum: 100 } } },
    securitySchemes: { api_key: { type: 'apiKey', name: 'api_key', in: 'header' }, cert: { type: 'mutualTLS' } },
    schemas: {
      NewPet: { allOf: [{ $ref: '#/components/schemas/Base' }, { type: 'object', required: ['name', 'id'], properties: { name: { type: 'string', example: 'Rex' }, parent: { $ref: '#/components/schemas/Tree' } } }] },
      Base: { type: 'object', properties: { id: { type: 'integer', readOnly: true }, kind: { type: 'string', xml: { name: 'kind' } } } },
      Tree: { type: 'object', properties: { label: { type: 'string' }, children: { type: 'array', items: { $ref: '#/components/schemas/Tree' } } } }
    }
  }
}

const petstore31 = `openapi: 3.1.0
info: {title: Pets, version: "2"}
servers: [{url: https://pets.example}]
components:
  securitySchemes:
    bearerAuth: {type: http, scheme: bearer}
    login: {type: http, scheme: basic}
    inQuery: {type: apiKey, in: query, name: key}
    sso: {type: oauth2, flows: {}}
paths:
  /search:
    post:
      security: [{bearerAuth: [], inQuery: []}]
      requestBody:
        content:
          application/vnd.pets+json:
            schema:
              type: array
              items: {type: [string, "null"], pattern: "("}
  /find:
    get:
      operationId: find
      security: [{login: []}, {}]
      parameters: [{name: q, in: query, required: true, content: {application/json: {schema: {type: object}}}}]
  /find/again:
    get: {operationId: find, security: [{sso: [read]}]}
webhooks:
  seen: {post: {}}
`

const get = async (document: object | string, options?: ImportOptions): Promise<OpenapiImport> => await importOpenapi(typeof document === 'string' ? document : JSON.stringify(document), options)
const entryOf = ({ entries }: OpenapiImport, name: string): Record<string, unknown> => ({ ...entries.find(entry => entry.name === name) })

t.test('a Petstore of version 3.0 becomes entries that are served; operations that can\'t be sent are left out with a reason', async t => {
  const found = await get(petstore30)
  t.strictSame(found.entries.map(({ name }) => name), ['listPets', 'createPets', 'show_pet_by_id', 'replacePet'])
  t.strictSame(found.leftOut.map(({ operation }) => operation), ['uploadPhoto', 'matrix', 'remote', 'mutual'])
  for (const [at, because] of [/multipart\/form-data/, /style matrix/, /outside of the document/, /mutualTLS/].entries()) t.match(found.leftOut[at]?.because, because)
  t.match(found.notes, [{ tool: 'listPets', says: /cookie parameter session.*left out/ }, { tool: 'createPets', says: /Tree holds itself/ }])
  t.strictSame([[...found.settings], [...found.servers]], [[['SWAGGER_PETSTORE_API_KEY', 'an API key']], ['https://eu.petstore.example/api/v1 (region)']])
  t.strictSame([...(await get(petstore30, { server: 'https://a.example' })).servers], [])
  const registry = await loadLayers(t, [found.entries as unknown as Array<Record<string, unknown>>])
  t.strictSame(registry.findings, [])
  t.equal(registry.published().length, 4)
})

t.test('arguments of version 3.0 have the places, names and schemas that the document gives them', async t => {
  const found = await get(petstore30)
  t.strictSame(entryOf(found, 'listPets'), {
    name: 'listPets',
    description: 'List all pets',
    schema: {
      type: 'object',
      properties: {
        'X-Trace': { type: 'string' },
        limit: { type: 'integer', format: 'int32', maximum: 100, exclusiveMinimum: 0, description: 'How many' },
        tags: { type: 'array', items: { type: 'string' } },
        filter_status: { type: ['string', 'null'], enum: ['sold', 'free', null] },
        where: { type: 'object', properties: { color: { type: 'string' } } }
      },
      additionalProperties: false
    },
    tags: ['pets'],
    http: {
      method: 'GET',
      url: 'https://eu.petstore.example/api/v1/pets',
      query: ['limit', { argument: 'tags', style: 'comma' }, { argument: 'filter_status', name: 'filter[status]' }, { argument: 'where', style: 'deepObject' }],
      headers: { 'X-Trace': '{X-Trace}', api_key: { setting: 'SWAGGER_PETSTORE_API_KEY' } }
    }
  })
  t.match(entryOf(found, 'createPets'), {
    schema: { properties: { name: { type: 'string' }, kind: { type: 'string' }, parent: { properties: { children: { items: {} } } } }, required: ['name'] }, http: { method: 'POST', body: 'json' }
  })
  t.notMatch(JSON.stringify(entryOf(found, 'createPets')), /readOnly|example":|xml|"id"/)
  t.match(entryOf(found, 'show_pet_by_id'), { http: { url: 'https://eu.petstore.example/api/v1/pets/{petId}', headers: undefined } })
  t.match(entryOf(found, 'replacePet'), { schema: { required: ['petId', 'body'] }, http: { body: { type: 'form', argument: 'body' } } }, 'names that meet make one argument of the body')
})

t.test('version 3.1, YAML, all kinds of credentials and colliding names are read', async t => {
  const found = await get(petstore31)
  t.strictSame(found.entries.map(({ name }) => name), ['post_search', 'find', 'find_2'])
  t.match(entryOf(found, 'post_search'), {
    schema: { properties: { body: { type: 'array', items: { type: ['string', 'null'], pattern: undefined } } } },
    http: {
      url: 'https://pets.example/search',
      query: [{ name: 'key', setting: 'PETS_IN_QUERY' }],
      body: { type: 'json', argument: 'body' },
      headers: { 'Content-Type': 'application/vnd.pets+json', Authorization: { setting: 'PETS_BEARER_AUTH', prefix: 'Bearer ' } }
    }
  })
  t.match(found.notes, [{ tool: 'post_search', says: /patterns are left out/ }])
  t.match(entryOf(found, 'find'), { http: { query: [{ argument: 'q', style: 'json' }], headers: { Authorization: { setting: 'PETS_LOGIN', prefix: 'Basic ', base64: true } } } })
  t.match(entryOf(found, 'find_2'), { http: { headers: { Authorization: { setting: 'PETS_SSO', prefix: 'Bearer ' } } } })
  t.strictSame(errors(await loadLayers(t, [found.entries as unknown as Array<Record<string, unknown>>])), [])
})

t.test('operations are chosen by id, by method and path, or by tag; the server and a prefix can be given', async t => {
  t.strictSame((await get(petstore30, { only: ['listPets', 'PUT /pets/{petId}'] })).entries.map(({ name }) => name), ['listPets', 'replacePet'])
  t.strictSame((await get(petstore30, { tags: ['pets'] })).entries.map(({ name }) => name), ['listPets', 'createPets'])
  const { entries, settings } = await get(petstore30, { only: ['pet_listPets'], prefix: 'pet_', server: 'http://inside:8080/base/' })
  t.match(entries, [{ name: 'pet_listPets', http: { url: 'http://inside:8080/base/pets', headers: { api_key: { setting: 'PET_API_KEY' } } } }])
  t.strictSame([...settings.keys()], ['PET_API_KEY'])
  await t.rejects(get(petstore30, { only: ['listPet'] }), new OpenapiFault('has no operation listPet; is listPets meant?'))
})

t.test('anything but a document of version 3 is refused, and the message says what to do', async t => {
  await t.rejects(get({ swagger: '2.0' }), { message: /version 2\.0.*swagger2openapi/ })
  await t.rejects(get({ openapi: '4.0.0' }), { message: /version 4\.0\.0/ })
  await t.rejects(get({ tools: [] }), { message: /no field openapi/ })
  await t.rejects(get('a: [b'), { message: /neither JSON nor YAML/ })
  t.match((await get({ openapi: '3.1.0', info: {}, servers: [{ url: '/api' }], paths: { '/x': { get: {} } } })).leftOut, [{ operation: 'GET /x', because: /--server/ }])
})

t.test('hostile references are handled: circles, missing targets, and schemas that double with each level', async t => {
  const schemas: Record<string, object> = { loop: { $ref: '#/components/schemas/loop' } }
  for (let level = 0; level < 40; level++) schemas[`s${level}`] = { type: 'object', properties: { a: { $ref: `#/components/schemas/s${level + 1}` }, b: { $ref: `#/components/schemas/s${level + 1}` } } }
  schemas['s40'] = { type: 'string' }
  const operation = (schema: object): object => ({ get: { parameters: [{ name: 'q', in: 'query', required: true, style: 'deepObject', schema }] } })
  const paths = {
    '/double': operation({ $ref: '#/components/schemas/s0' }),
    '/gone': operation({ $ref: '#/components/schemas/gone' }),
    '/proto': operation({ $ref: '#/__proto__/toString' }),
    '/loop': operation({ $ref: '#/components/schemas/loop' }),
    '/circle': { $ref: '#/paths/~1circle' }
  }
  const document = { openapi: '3.1.0', info: { title: 'x' }, servers: [{ url: 'https://a.example' }], paths, components: { schemas } }
  const found = await get(document)
  t.match(found.leftOut, [{ operation: '/circle', because: /circle/ }, { because: /more than 2000 parts/ }, { because: /isn't there/ }, { because: /isn't there/ }])
  t.match(found.entries, [{ name: 'get_loop' }])
})

t.test('an entry may name an operation of a document beside the manifest; changes of the document are noticed', async t => {
  const dir = t.testdir({
    'api.json': JSON.stringify(petstore30),
    'tools.json': JSON.stringify({
      tools: [
        { name: 'pets', http: { openapi: 'api.json', operation: 'listPets', server: 'https://other.example', settings: { api_key: 'MY_KEY' } } },
        { name: 'wrong', http: { openapi: 'api.json', operation: 'none' } },
        { name: 'absent', http: { openapi: 'absent.yaml', operation: 'none' } }
      ]
    })
  })
  const registry = await loadRegistry({ manifests: [`${dir}/tools.json`], builtins: false })
  t.match(registry.get('pets')?.tool, {
    description: 'List all pets', idempotent: true, permissions: ['network'], run: { kind: 'http', origin: 'https://other.example', headers: [{ name: 'X-Trace' }, { name: 'api_key', setting: 'MY_KEY' }] }
  })
  t.match(errors(registry), [{ rule: 'http/openapi', tool: 'wrong', message: /has no operation none/ }, { rule: 'http/openapi', tool: 'absent', message: /no file/ }])
  t.ok(registry.files.includes(`${dir}/api.json`))
})

t.test('a document in YAML may have several MiB, and one that is too large says so', { timeout: 200_000 }, async t => {
  const text = `openapi: 3.1.0\ninfo: { title: large }\nservers: [{ url: https://a.example }]\npaths:\n${Array.from({ length: 12 }, (_, at) => `  /p${at}:\n    get:\n      operationId: p${at}\n      description: |\n${'        A line of a text that explains what this does.\n'.repeat(4_000)}`).join('')}`
  t.ok(Buffer.byteLength(text) > 2_200_000)
  t.equal((await importOpenapi(text, {})).entries.length, 12)
  await t.rejects(importOpenapi(`a: |\n${'  x\n'.repeat(2_200_000)}`, {}), { message: /YAML is read up to 8 MiB: convert it to JSON/ })
})

t.test('a default that does not fit its required parameter is a note of the import', async t => {
  const parameters = [{ name: 'limit', in: 'query', required: true, schema: { type: 'integer', default: 'ten' } }]
  const found = await get({ openapi: '3.0.3', info: { title: 'Pets', version: '1' }, servers: [{ url: 'https://pets.example' }], paths: { '/pets': { get: { operationId: 'list', summary: 'List pets', parameters } } } })
  t.match(found.notes, [{ tool: 'list', says: 'the default of "limit" does not fit it: it is not filled in' }])
})

t.test('a long description is cut behind a word, never inside a letter, and the import says so', async t => {
  const described = async (description: string): Promise<OpenapiImport> => await importOpenapi(JSON.stringify({
    openapi: '3.1.0', info: { title: 'Long', version: '1' }, servers: [{ url: 'https://long.example' }], paths: { '/a': { get: { operationId: 'a', description } } }
  }))
  for (const [text, shown] of [['word '.repeat(1_000), `${'word '.repeat(204)}…`], ['x'.repeat(2_000), `${'x'.repeat(1_022)} …`], [`x${'😀'.repeat(1_000)}`, `x${'😀'.repeat(510)} …`]] as const) {
    const { entries: [entry], notes } = await described(text)
    t.equal(entry?.description, shown)
    t.same(notes, [{ tool: 'a', says: `its description of ${text.trim().length} characters is cut to 1024` }])
  }
  const whole = await described('y'.repeat(1_024))
  t.equal(whole.entries[0]?.description, 'y'.repeat(1_024))
  t.same(whole.notes, [])
})

t.test('the fields of a form are written as its encoding says', async t => {
  const list = { type: 'array', items: { type: 'string' } }
  const encoding = {
    expand: { style: 'deepObject', explode: true }, meta: { style: 'deepObject', explode: true }, ids: { explode: false }, tags: { style: 'pipeDelimited' },
    filter: { contentType: 'application/json' }, each: { style: 'form' }, unknown: { style: 'deepObject' }
  }
  const properties = { expand: list, meta: { type: 'object', additionalProperties: true }, ids: list, tags: list, filter: { type: 'object' }, each: list }
  const body = (schema: object): object => ({ requestBody: { required: true, content: { 'application/x-www-form-urlencoded': { encoding, schema } } } })
  const document = {
    openapi: '3.0.3',
    servers: [{ url: 'https://pay.example' }],
    paths: { '/a': { post: { operationId: 'spread', ...body({ type: 'object', properties }) } }, '/b': { post: { operationId: 'whole', ...body({ type: 'object', properties, additionalProperties: true }) } } }
  }
  const found = await importOpenapi(JSON.stringify(document), {})
  const styles = { expand: 'deepObject', ids: 'comma', tags: 'pipe', filter: 'json' }
  t.strictSame(entryOf(found, 'spread')?.http, { method: 'POST', url: 'https://pay.example/a', body: { type: 'form', styles } })
  t.strictSame(entryOf(found, 'whole')?.http, { method: 'POST', url: 'https://pay.example/b', body: { type: 'form', argument: 'body', styles } })
})
