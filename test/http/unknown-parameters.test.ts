import t from 'tap'
import { injectService } from '../support/injected.ts'
import { testKeys } from '../support/service.ts'

const { client, app } = await injectService(t, { workers: 0 })
const id = '01890a5d-ac96-774b-bcce-b302099a8057'
const key = testKeys.admin

async function ask (method: string, path: string, body?: object): Promise<{ status: number, body: object }> {
  return await client.request<object>(path, { method, key, ...(body === undefined ? {} : { body }) })
}

t.test('a route that takes no query refuses every parameter, and names it', async t => {
  const requests: Array<[method: string, path: string, body?: object]> = [
    ['PATCH', '/v1/queues/own', { paused: true }], ['POST', '/v1/bulk', { action: 'cancel', filter: { status: 'queued' } }],
    ['GET', '/v1/registry/data_file_read'], ['PATCH', '/v1/job-types/data.file_read', { enabled: false }],
    ['POST', '/v1/keys', { name: 'new', role: 'read' }], ['POST', '/v1/auth/login', { key }],
    ['POST', '/v1/jobs', { type: 'data.file_read', input: { path: 'x' } }], ['POST', '/v1/sessions']
  ]
  for (const [method, path, body] of requests) {
    const { status, body: answer } = await ask(method, `${path}?tenant=acme`, body)
    t.equal(status, 400, `${method} ${path}`)
    t.match(answer, { ok: false, error: { code: 'VALIDATION_ERROR', message: "'tenant' is not a known parameter (known: none)" } }, `${method} ${path}`)
  }
  t.match((await client.request('/v1/jobs')).body, { count: 0 })
})

t.test('every route below /v1 refuses a parameter that it does not know, and names those that it knows', async t => {
  const { body: { paths } } = await client.request<{ paths: Record<string, Record<string, object>> }>('/openapi.json', { key: null })
  const routes = Object.entries(paths).filter(([path]) => path.startsWith('/v1/'))
    .flatMap(([path, operations]) => Object.keys(operations).map(method => [method.toUpperCase(), path.replace('{name}', 'x').replace('{path}', 'x').replace('{id}', id)] as const))
  t.ok(routes.length > 40)
  for (const [method, path] of routes) {
    for (const name of ['colour', '__proto__', 'constructor', 'api_key']) {
      const { status, body } = await ask(method, `${path}?${name}=red`)
      t.equal(status, 400, `${method} ${path}`)
      t.match(body, { error: { code: 'VALIDATION_ERROR', message: new RegExp(`^'${name}' is not a known parameter \\(known: (?:none|'[a-z_]+'(?:, '[a-z_]+')*)\\)$`) } }, `${method} ${path}`)
    }
  }
})

t.test('every route with a body refuses a field that it does not know', async t => {
  interface Operation { requestBody?: { content?: Record<string, { example?: object }> } }
  const { body: { paths } } = await client.request<{ paths: Record<string, Record<string, Operation>> }>('/openapi.json', { key: null })
  const routes = Object.entries(paths).filter(([path]) => path.startsWith('/v1/') && !path.startsWith('/v1/tools/')).flatMap(([path, operations]) => Object.entries(operations).flatMap(([method, { requestBody }]) => {
    const example = requestBody?.content?.['application/json']?.example
    return example === undefined ? [] : [{ method: method.toUpperCase(), path: path.replace('{name}', 'data.file_read').replace('{id}', id), example }]
  }))
  t.ok(routes.length > 8)
  for (const { method, path, example } of routes) {
    const { status, body } = await ask(method, path, { ...example, colour: 'red' })
    t.equal(status, 400, `${method} ${path}`)
    t.match(body, { error: { code: 'VALIDATION_ERROR', message: /^'(?:filter\.)?colour' is not a known field \(known: '/ } }, `${method} ${path}`)
  }
})

t.test('a parameter whose value is wrong is named, with what it may be', async t => {
  interface Parameter { name: string, in: string, schema: { enum?: string[], type?: string } }
  const { body: { paths } } = await client.request<{ paths: Record<string, Record<string, { parameters?: Parameter[] }>> }>('/openapi.json', { key: null })
  const cases = Object.entries(paths).flatMap(([path, { get }]) => (get?.parameters ?? [])
    .filter(({ in: place, schema }) => place === 'query' && (schema.enum !== undefined || schema.type === 'integer'))
    .map(parameter => ({ path: path.replace('{name}', 'x').replace('{path}', 'x').replace('{id}', id), ...parameter })))
  t.ok(cases.length > 8)
  for (const { path, name, schema } of cases) {
    const { status, body } = await ask('GET', `${path}?${name}=wrong`)
    t.equal(status, 400, `${path} ${name}`)
    const may = schema.enum === undefined ? 'must be (?:an )?integer' : `must be .*${schema.enum[0]}`
    t.match(body, { error: { code: 'VALIDATION_ERROR', message: new RegExp(`^'${name}' ${may}`) } }, `${path} ${name}`)
  }
})

t.test('pages, and what monitors ask, take any parameter', async t => {
  for (const url of ['/health', '/ready', '/metrics', '/docs', '/']) t.not((await app.inject({ url: `${url}?time=1`, headers: { 'x-api-key': key } })).statusCode, 400, url)
})
