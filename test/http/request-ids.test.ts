import t from 'tap'
import { injectService } from '../support/injected.ts'
import { entries, programs } from '../e2e/tools.ts'

const { client, redis } = await injectService(t, { files: programs, tools: entries, workers: 0 })
const batch = '/v1/agent-tools/invoke-batch'
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/
const call = { call_id: 'a', name: 'no_such_tool' }

t.test('every answer has its own x-request-id', async t => {
  const tag = (await client.request('/v1/agent-tools')).headers.get('etag') ?? ''
  const answers = {
    200: await client.request('/v1/agent-tools'),
    '200 of health': await client.request('/health'),
    '200 of a batch': await client.request(batch, { body: { calls: [call] } }),
    '200 as events': await client.request(batch, { body: { calls: [call] }, headers: { accept: 'text/event-stream' } }),
    304: await client.request('/v1/agent-tools', { headers: { 'if-none-match': tag } }),
    '303 of the dashboard': await client.request('/dashboard/', { key: null })
  }
  const ids = Object.entries(answers).map(([what, { headers }]) => {
    t.match(headers.get('x-request-id'), uuid, what)
    return headers.get('x-request-id')
  })
  t.equal(new Set(ids).size, ids.length)
})

t.test('the body of every error has the request_id of its header', async t => {
  const errors = {
    400: { path: batch, options: { body: {} } },
    '400 of broken JSON': { path: batch, options: { body: '{"calls"' } },
    '400 of a path': { path: '/v1/jobs/%zz', options: {} },
    401: { path: batch, options: { key: 'wrong', body: {} } },
    404: { path: '/nowhere', options: {} },
    '401 of the dashboard': { path: '/dashboard/api/queues', options: { key: null } },
    413: { path: batch, options: { body: 'x'.repeat(2_000_000) } },
    415: { path: batch, options: { body: 'x', headers: { 'content-type': 'text/plain' } } }
  } as const
  for (const [what, { path, options }] of Object.entries(errors)) {
    const { status, headers, body } = await client.request(path, options)
    t.equal(status, Number.parseInt(what))
    t.match(headers.get('x-request-id'), uuid, what)
    t.equal(body['request_id'], headers.get('x-request-id'), what)
  }
})

t.test('a request id never comes from the caller', async t => {
  for (const id of ['mine', '0197c9a5-0000-4000-8000-000000000000']) {
    t.not((await client.request('/health', { headers: { 'x-request-id': id } })).headers.get('x-request-id'), id)
  }
})

t.test('a 503 has its request id too', async t => {
  await redis.stop()
  const { status, headers, body } = await client.request('/v1/jobs')
  t.equal(status, 503)
  t.match(headers.get('x-request-id'), uuid)
  t.equal(body['request_id'], headers.get('x-request-id'))
})
