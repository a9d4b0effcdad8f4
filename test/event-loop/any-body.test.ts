import fc from 'fast-check'
import t from 'tap'
import { createService, testKeys } from '../support/service.ts'
import { meta } from '../mcp/clients.ts'
import { turnEnvironment, turnsOf } from './service-turns.ts'
import { largeValues } from './worst-schemas.ts'

/*
 * Places that nobody has thought of: any value of the body of any request, and of any MCP message, is large here. The
 * requests are those of the service's own OpenAPI document. A failure says with which seed it comes again.
 */

t.setTimeout(600_000)
const env = turnEnvironment()
const service = await createService(t, {
  files: { 'tools/bin/none': '#!/bin/sh\necho\n' },
  tools: [{ name: 'anything', description: 'A tool.', command: ['./tools/bin/none'], schema: { type: 'object' }, policy: [{ when: 'size(string(args)) > 5', then: 'hold', reason: 'Large.' }] }],
  env
})
const leavesLoopsFree = turnsOf(service, env)
const seed = Number(process.env['TOOLYARD_TEST_SEED'] ?? Date.now() % 2 ** 31)
t.comment(`seed ${seed}`)
const value = largeValues(900_000, 29_000)

interface Schema {
  $ref?: string
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}

interface Operation {
  requestBody?: { content?: Record<string, { schema?: Schema, example?: unknown, examples?: Record<string, { value: unknown }> }> }
}

interface Document { paths: Record<string, Record<string, Operation>> }

const document = await (await fetch(`${service.api.address}/openapi.json`, { headers: { 'x-api-key': testKeys.admin } })).json() as Document

function resolved (schema: Schema): Schema {
  if (schema.$ref === undefined) return schema
  return schema.$ref.slice(2).split('/').reduce<unknown>((at, name) => (at as Record<string, unknown>)[name.replaceAll('~1', '/')], document) as Schema
}

/** Where a body may have a value: names of fields, and 0 for the item of a list. */
function placesOf (schema: Schema, depth = 4): Array<Array<string | 0>> {
  const own = resolved(schema)
  const branches = [...own.anyOf ?? [], ...own.oneOf ?? [], ...own.allOf ?? []].flatMap(branch => placesOf(branch, depth))
  if (depth === 0) return [[]]
  return [
    [],
    ...branches,
    ...Object.entries(own.properties ?? {}).flatMap(([name, field]) => placesOf(field, depth - 1).map(place => [name, ...place])),
    ...own.items === undefined ? [] : placesOf(own.items, depth - 1).map(place => [0 as const, ...place])
  ]
}

/** A body with a value in a place, beside what its example has. */
function withValue (example: unknown, [next, ...rest]: ReadonlyArray<string | 0>, large: unknown): unknown {
  if (next === undefined) return large
  if (next === 0) return [withValue(Array.isArray(example) ? example[0] : undefined, rest, large)]
  const fields = typeof example === 'object' && example !== null && !Array.isArray(example) ? example as Record<string, unknown> : {}
  return { ...fields, [next]: withValue(fields[next], rest, large) }
}

const targets = Object.entries(document.paths).flatMap(([path, methods]) => Object.entries(methods).flatMap(([method, { requestBody }]) => {
  const json = requestBody?.content?.['application/json']
  if (json?.schema === undefined) return []
  const example = json.example ?? Object.values(json.examples ?? {})[0]?.value
  return [{ path, method: method.toUpperCase(), example, places: placesOf(json.schema) }]
}))

t.test('promise 10: no value in the body of any request holds up the API or a worker', async t => {
  t.ok(targets.length > 10, `${targets.length} requests have a body`)
  const place = fc.constantFrom(...targets).chain(target => (
    fc.record({ target: fc.constant(target), at: fc.constantFrom(...target.places), large: value })
  ))
  for (const { target: { path, method, example }, at, large } of fc.sample(place, { seed, numRuns: 60 })) {
    const url = service.api.address + path.replaceAll(/\{[^}]+\}/g, '01a221cc-9c3a-76e7-9c33-da56089e0c8e')
    const body = JSON.stringify(withValue(example, at, large))
    await leavesLoopsFree(t, `${method} ${path} with ${body.length} characters at /${at.join('/')}`, async () => {
      const answer = await fetch(url, { method, headers: { 'x-api-key': testKeys.admin, 'content-type': 'application/json' }, body })
      await answer.text()
    })
  }
})

const methods = [
  'initialize', 'tools/list', 'tools/call', 'prompts/list', 'prompts/get', 'resources/list', 'resources/read', 'resources/subscribe', 'completion/complete',
  'logging/setLevel', 'tasks/get', 'tasks/update', 'tasks/cancel', 'subscriptions/listen', 'notifications/cancelled', 'notifications/progress', 'server/discover'
]
const fields = ['name', 'arguments', '_meta', 'cursor', 'uri', 'ref', 'argument', 'context', 'capabilities', 'clientInfo', 'taskId', 'inputResponses', 'notifications', 'requestId', 'progressToken', 'level']

t.test('promise 10: no value in any MCP message holds up the API or a worker', async t => {
  const message = fc.record({
    method: fc.constantFrom(...methods),
    field: fc.constantFrom(...fields),
    inner: fc.option(fc.constantFrom(...fields), { nil: undefined }),
    large: value,
    isNew: fc.boolean()
  })
  for (const { method, field, inner, large, isNew } of fc.sample(message, { seed, numRuns: 60 })) {
    const params = { name: 'anything', [field]: inner === undefined ? large : { [inner]: large } }
    const said = typeof params['_meta'] === 'object' ? params['_meta'] as object : {}
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: isNew ? { ...params, _meta: { ...said, ...meta } } : params })
    const headers = {
      'x-api-key': testKeys.admin,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': isNew ? '2026-07-28' : '2025-11-25',
      ...isNew && { 'mcp-method': method, 'mcp-name': 'anything' }
    }
    await leavesLoopsFree(t, `${method} with ${field}${inner === undefined ? '' : `.${inner}`}`, async () => {
      const answer = await fetch(`${service.api.address}/mcp`, { method: 'POST', headers, body, signal: AbortSignal.timeout(3_000) })
      // Some are answered by a stream without end; how long the turns were counts all the same.
      await answer.text().catch((error: unknown) => { if (!(error instanceof Error) || error.name !== 'TimeoutError') throw error })
    })
  }
})
