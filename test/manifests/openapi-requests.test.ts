import t from 'tap'
import { importOpenapi } from '@toolyard/manifests'

const info = { title: 'Requests', version: '1' }

t.test('of several servers the first that can be used is taken, of those that are nearest to the operation', async t => {
  const usable = { url: 'https://a.example/v1' }
  const varying = { url: 'https://{x}.example', variables: { x: { default: 'c' } } }
  const found = await importOpenapi(JSON.stringify({
    openapi: '3.1.0',
    info,
    servers: [{ url: '/v1' }, { url: 'https://{host}/v1' }, { url: 'wss://a.example' }, usable, { url: 'https://b.example' }],
    paths: {
      '/outer': { get: { operationId: 'outer' } },
      '/inner': { servers: [usable], get: { operationId: 'inner', servers: [{ url: '/v2' }, varying] } },
      '/none': { get: { operationId: 'none', servers: [{ url: '/v3' }, { url: '/v4' }] } }
    }
  }))
  t.strictSame(found.entries.map(({ http: { url } }) => url), ['https://a.example/v1/outer', 'https://c.example/inner'])
  t.match(found.leftOut, [{ operation: 'none', because: 'names no server but /v3: say which one with --server URL' }])
  t.strictSame([...found.servers], ['https://c.example (x)'])
})

t.test('an object in a form is JSON where its encoding names no style, as OpenAPI 3.1.1 has it', async t => {
  const object = { type: 'object', properties: { a: { type: 'string' } } }
  const properties = {
    plain: object, maybe: { type: ['object', 'null'] }, deep: object, text: object, list: { type: 'array', items: object }, single: { type: 'string' }
  }
  const encoding = { deep: { style: 'deepObject', explode: true }, text: { contentType: 'text/plain' } }
  const content = { 'application/x-www-form-urlencoded': { schema: { type: 'object', properties }, encoding } }
  const found = await importOpenapi(JSON.stringify({
    openapi: '3.1.0', info, servers: [{ url: 'https://a.example' }], paths: { '/a': { post: { operationId: 'a', requestBody: { required: true, content } } } }
  }))
  t.match(found.entries, [{ http: { body: { type: 'form', styles: { plain: 'json', maybe: 'json' } } } }])
  t.strictSame(Object.keys((found.entries[0]?.http.body as { styles?: object }).styles ?? {}), ['plain', 'maybe'])
})

t.test('a parameter that may be null or a single text is written as one that may not', async t => {
  const list = { type: 'array', items: { type: 'string' } }
  const object = { type: 'object', nullable: true, properties: { z: { type: 'string' } } }
  const query = (name: string, schema: object, fields: object = { explode: false }): object => ({ in: 'query', name, schema, ...fields })
  const parameters = [
    query('plain', list), query('maybe', { ...list, nullable: true }), query('either', { oneOf: [{ type: 'string' }, list] }), query('unsaid', {}),
    query('single', { type: 'string', nullable: true }), query('choice', { anyOf: [{ type: 'string' }, { type: 'integer' }] }), query('object', object, {}),
    { in: 'header', name: 'X-Object', schema: object }
  ]
  const found = await importOpenapi(JSON.stringify({
    openapi: '3.0.3', info, servers: [{ url: 'https://a.example' }], paths: { '/a': { get: { operationId: 'a', parameters } } }
  }))
  const comma = ['plain', 'maybe', 'either', 'unsaid'].map(argument => ({ argument, style: 'comma' }))
  t.strictSame(found.entries[0]?.http.query, [...comma, 'single', 'choice', 'z'])
  t.strictSame(found.notes, [{ tool: 'a', says: 'has the header parameter X-Object, an object by the style simple; it is left out' }])
})

t.test('a fragment of a path tells operations apart and is not sent, as documents of AWS, Azure and Box have it', async t => {
  const action = { name: 'Action', in: 'query', required: true, schema: { type: 'string', enum: ['Run'] } }
  const found = await importOpenapi(JSON.stringify({
    openapi: '3.0.3',
    info,
    servers: [{ url: 'https://a.example' }],
    paths: {
      '/#Action=Run': { post: { operationId: 'run', parameters: [action] } },
      '/files/{id}#add_{link}': { put: { operationId: 'add' } },
      '/#/page': { get: { operationId: 'page' } }
    }
  }))
  t.match(found.entries, [
    { http: { url: 'https://a.example/', query: ['Action'] } },
    { http: { url: 'https://a.example/files/{id}' }, schema: { properties: { id: {}, link: undefined } } }
  ])
  t.match(found.leftOut, [{ operation: 'page', because: /fragment/ }])
})

t.test('choices that don\'t fit their type leave values that can be sent', async t => {
  const properties = {
    list: { type: 'array', items: { type: 'string' }, enum: ['github', 'git'] }, flag: { type: 'string', enum: [true, false] },
    size: { type: 'string', enum: [969, 556] }, level: { type: 'integer', enum: ['0 (User)', '1 (All)'] }, kind: { type: 'string', enum: ['a', 1] }
  }
  const content = { 'application/json': { schema: { type: 'object', properties } } }
  const found = await importOpenapi(JSON.stringify({
    openapi: '3.0.3', info, servers: [{ url: 'https://a.example' }], paths: { '/a': { post: { operationId: 'a', requestBody: { required: true, content } } } }
  }))
  t.strictSame(found.entries[0]?.schema['properties'], {
    list: { type: 'array', items: { type: 'string', enum: ['github', 'git'] } },
    flag: { enum: [true, false] },
    size: { enum: [969, 556] },
    level: { type: 'integer' },
    kind: { type: 'string', enum: ['a', 1] }
  })
})
