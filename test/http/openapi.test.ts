import type { ToolList } from '@toolyard/contract'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { waitFor } from '../support/condition.ts'
import { injectService } from '../support/injected.ts'
import { hasPython } from '../support/python.ts'
import { testKeys } from '../support/service.ts'
import type { OpenApiDocument } from '../support/openapi.ts'
import { openApiService } from './openapi-service.ts'

const { client, app, dir, read } = await openApiService(t)
const toolPaths = (document: OpenApiDocument): string[] => Object.keys(document.paths).filter(path => /^\/v1\/tools\/\w/.test(path))

t.test('without a key the document has the fixed routes and no tool', async t => {
  const document = await read('/openapi.json', { key: null })
  t.same(toolPaths(document), [])
  t.same(Object.keys(document.paths).sort(), [
    '/health', '/metrics', '/openapi.json', '/ready', '/v1/agent-tools', '/v1/agent-tools/invoke-batch',
    '/v1/approvals', '/v1/approvals/{id}', '/v1/audit', '/v1/auth/login', '/v1/auth/logout', '/v1/auth/sse-token', '/v1/auth/whoami', '/v1/bulk', '/v1/bulk/{id}', '/v1/bulk/{id}/stop',
    '/v1/files', '/v1/files/{path}', '/v1/job-types', '/v1/job-types/{name}', '/v1/jobs', '/v1/jobs/counts', '/v1/jobs/{id}',
    '/v1/jobs/{id}/answer', '/v1/jobs/{id}/cancel', '/v1/jobs/{id}/logs', '/v1/jobs/{id}/promote', '/v1/jobs/{id}/steps', '/v1/jobs/{id}/stream', '/v1/keys', '/v1/keys/{name}',
    '/v1/queues', '/v1/queues/{name}', '/v1/registry', '/v1/registry/{name}', '/v1/secrets', '/v1/secrets/rotate', '/v1/secrets/{name}', '/v1/sessions', '/v1/sessions/{id}', '/v1/sessions/{id}/files',
    '/v1/sessions/{id}/files/{path}', '/v1/skills', '/v1/stats', '/v1/tools/{name}', '/v1/workers', '/v1/workers/{id}'
  ])
  t.notMatch(JSON.stringify(document), /echo_strict/)
})

t.test('every route is in the document, or on the list of those left out', async t => {
  const { paths } = await read()
  const routes = routesOf(app.printRoutes({ commonPrefix: false })).filter(({ url }) => !/^\/(?:$|assets|dashboard|docs|mcp|\.well-known)(?:\/|$)|^\*$/.test(url))
  for (const { method, url } of routes) t.hasProp(paths[url.replaceAll(/:(\w+)/g, '{$1}').replace(/\/?\*$/, '/{path}')] ?? {}, method.toLowerCase(), `${method} ${url}`)
  t.ok(routes.length > 15)
})

t.test('HEAD is answered wherever GET is', async t => {
  const routes = routesOf(app.printRoutes({ commonPrefix: false }), [])
  const urls = (of: string): string[] => routes.filter(({ method }) => method === of).map(({ url }) => url)
  t.same(urls('GET').filter(url => !urls('HEAD').includes(url)), [])
})

/** The routes of the tree that Fastify prints. */
function routesOf (tree: string, without: readonly string[] = ['HEAD']): Array<{ method: string, url: string }> {
  const levels: string[] = []
  return tree.split('\n').flatMap(line => {
    const [, indent = '', part = '', methods = ''] = /^((?:[│ ] {3})*(?:[├└]── ))(\S+)(?: \(([A-Z, ]+)\))?$/.exec(line) ?? []
    if (part === '') return []
    levels.splice(indent.length / 4 - 1, levels.length, part)
    return methods.split(', ').filter(method => method !== '' && !without.includes(method)).map(method => ({
      method,
      url: levels.join('').replaceAll('//', '/')
    }))
  })
}

t.test('with a key it has an operation for each tool that the key may see', async t => {
  const names = async (key: string): Promise<string[]> => {
    const { body } = await client.request<ToolList>('/v1/agent-tools', { key })
    return body.tools.map(({ function: { name } }) => `/v1/tools/${name}`)
  }
  for (const key of [testKeys.admin, testKeys.read]) t.same(toolPaths(await read('/openapi.json', { key })), await names(key))
  const reader = await read('/openapi.json', { key: testKeys.read })
  t.notOk(reader.paths['/v1/tools/fetcher'], 'a tool whose permissions the key lacks')
  const admin = await read('/openapi.json', { key: null, headers: { authorization: `Bearer ${testKeys.admin}` } })
  t.ok(admin.paths['/v1/tools/fetcher'], 'the key may come as bearer')
  t.notOk(admin.paths['/v1/tools/off'], 'a disabled tool')
  const post = admin.paths['/v1/tools/echo_strict']?.['post']
  t.match(post, { operationId: 'echo_strict', requestBody: { required: true } })
  t.same(Object.keys(post?.responses ?? {}), ['200', '202', '400', '401', '403', '404', '409', '413', '415', '422', '429', '500', '503'])
  t.same(admin.components.schemas['echo_strict.arguments'], entries.find(({ name }) => name === 'echo_strict')?.schema)
})

t.test('a tool whose outputs must fit a schema has that schema in the document', { skip: !hasPython() && 'no Python here' }, async t => {
  const { paths, components } = await read()
  t.match(
    paths['/v1/tools/sizes'],
    { post: { responses: { 200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/sizes.output' } } } } } } }
  )
  t.same(components.schemas['sizes.output'], { type: 'object', properties: { bytes: { type: 'integer' } }, required: ['bytes'] })
})

t.test('?tools=only has only the tools, with the address that the caller uses', async t => {
  const document = await read('/openapi.json?tools=only')
  t.same(Object.keys(document.paths), toolPaths(await read()))
  t.same(document.servers, [{ url: 'http://localhost:80' }])
  const elsewhere = await read('/openapi.json?tools=only', { headers: { host: 'tools.example.test' } })
  t.same(elsewhere.servers, [{ url: 'http://tools.example.test' }])
  for (const host of ['"', 'a b', 'a/b', 'x@y', '[', 'a?b']) {
    t.same(
      (await read('/openapi.json', { headers: { host } })).servers,
      [{ url: '/' }],
    `a host that is none: ${host}`
    )
  }
})

t.test('an unknown query or key is refused', async t => {
  for (const [query, message] of [
    ['?tools=all', "'tools' must be 'only'"], ['?tools=', "'tools' must be 'only'"], ['?tools=only&tools=only', "'tools' must be 'only'"],
    ['?tool=only', "'tool' is not a known parameter (known: 'tools')"], [
      '?__proto__=1',
      "'__proto__' is not a known parameter (known: 'tools')"
    ]
  ]) t.match(await client.request(`/openapi.json${query}`), { status: 400, body: { error: { code: 'VALIDATION_ERROR', message } } })
  for (const path of ['/openapi.json', '/openapi.json?tools=only']) {
    t.match(await client.request(path, { key: 'wrong' }), { status: 401, body: { error: { code: 'UNAUTHORIZED' } } })
    t.match(await client.request(path, { key: null, headers: { authorization: 'Bearer wrong' } }), { status: 401 })
  }
  const keyless = await client.request('/openapi.json?tools=only', { key: null })
  t.match(keyless, { status: 401, body: { error: { code: 'UNAUTHORIZED' } } }, 'tools are shown to keys')
  t.equal(keyless.headers.get('www-authenticate'), 'Bearer')
  t.equal((await client.request('/openapi.json', { method: 'POST', body: {} })).status, 404)
})

t.test('an unchanged document is a 304; the document of another registry is sent', async t => {
  const first = await client.request('/openapi.json')
  const etag = first.headers.get('etag') ?? ''
  const again = async (): Promise<number> => (await client.request(
    '/openapi.json',
    { headers: { 'if-none-match': `"other", W/${etag}` } }
  )).status
  t.match(etag, /^"[\w-]+"$/)
  t.equal(await again(), 304)
  t.equal(first.headers.get('cache-control'), 'private, no-cache')
  t.equal(
    (await client.request('/openapi.json', { key: testKeys.read, headers: { 'if-none-match': etag } })).status,
    200,
    'another key sees other tools'
  )
  await client.request('/v1/job-types/agentcli.echo', { method: 'PATCH', body: { enabled: false } })
  await waitFor('the tool is gone', async () => (await read()).paths['/v1/tools/echo'] === undefined)
  t.equal(await again(), 200)
  await client.request('/v1/job-types/agentcli.echo', { method: 'PATCH', body: { enabled: true } })
  await waitFor('the tool is back', async () => await again() === 304)
  await writeFile(
    join(dir, 'tools.json'),
    JSON.stringify({
      tools: [
        ...entries,
        {
          name: 'later',
          schema: { type: 'object', properties: { a: { $ref: '#/definitions/a' } }, definitions: { a: { type: 'string' } } },
          command: ['./tools/bin/echo']
        }
      ]
    })
  )
  await waitFor('a tool that came later is there', async () => (await read()).paths['/v1/tools/later'] !== undefined)
  t.match(
    await read(),
    {
      components: {
        schemas: {
          'later.arguments': { properties: { a: { $ref: '#/components/schemas/later.arguments.a' } } },
          'later.arguments.a': { type: 'string' }
        }
      }
    }
  )
})

t.test('without authentication the document has every tool, and only this machine gets it', async t => {
  const open = await injectService(t, { workers: 0, tools: entries, files: programs, env: { API_KEYS_JSON: '', API_AUTH_DISABLED: '1' } })
  const { body } = await open.client.request<OpenApiDocument>('/openapi.json', { key: null })
  t.ok(body.paths['/v1/tools/echo'])
  t.same(body.security, [])
  t.equal((await open.client.request('/openapi.json', { key: null, headers: { host: 'elsewhere.test' } })).status, 403)
})

/** As much of the writer of documents as the next test takes. */
type Documents = new (routes: readonly object[], authDisabled: boolean) => {
  write: (query: { tools: readonly object[], toolsOnly: boolean, server: string }) => Promise<{ pieces: Buffer[] }>
}

t.test('the parts of the document that are sent are in memory once: clients without a key may ask for it under any host, and not read it', async t => {
  const { OpenApiDocuments } = await import(import.meta.resolve('@toolyard/api').replace(/index\.js$/, 'openapi/document.js')) as { OpenApiDocuments: Documents }
  const documents = new OpenApiDocuments([], false)
  const large = async (server: string): Promise<Buffer[]> => {
    const { pieces } = await documents.write({ tools: [], toolsOnly: false, server })
    return pieces.filter(({ length }) => length > 200)
  }
  const [first, second] = [await large('http://one'), await large('http://other')]
  t.ok(first.length > 1)
  t.ok(first.every((piece, i) => piece === second[i]))
})
