import t from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { running } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { createService, makeKeys } from '../support/service.ts'
import { meta, post, rpc, type RpcAnswer } from './clients.ts'

const { keys, API_KEYS_JSON } = makeKeys({ admin: { name: 'operator' }, acme: { tenant: 'acme' }, other: { tenant: 'other' } })
const mostStreams = 5
const { client: http, api, startApi } = await createService(t, {
  files: programs,
  tools: entries,
  env: {
    MAX_STREAMS: String(mostStreams),
    API_KEYS_JSON
  }
})
const other = await startApi()
const url = `${api.address}/mcp`
const tasks = { ...meta, 'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } } }

const legacy = async (body: unknown, { key = keys.acme, version = '2025-11-25', headers = {} } = {}): Promise<RpcAnswer> => (
  await post(url, body, { 'x-api-key': key, 'mcp-protocol-version': version, ...headers })
)
const modern = async (method: string, params: Record<string, unknown>, key: string = keys.acme): Promise<RpcAnswer> => (
  await rpc(api.address, method, params, { key })
)
const request = (method: string, params: object = {}, id: unknown = 1): object => ({ jsonrpc: '2.0', id, method, params })
const refused = (status: number, code: number): object => ({ status, body: { error: { code } } })

async function begin (key: string): Promise<string> {
  const initialize = request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } })
  return (await post(url, initialize, { 'x-api-key': key })).headers.get('mcp-session-id') ?? ''
}

const runningOf = async (key: string = keys.acme): Promise<string> => await running(http, '', { key })

async function statusOf (id: string): Promise<string> {
  return (await http.request<{ job: { status: string } }>(`/v1/jobs/${id}`)).body.job.status
}

t.test('methods that are not served are not found, in both eras, and what needs no answer gets none', async t => {
  for (const method of ['no/such', 'roots/list', 'sampling/createMessage', '__proto__', 'toString', 'server/discover', 'tasks/get']) {
    t.match(await legacy(request(method, { taskId: 'x' })), refused(200, -32_601), method)
  }
  for (const method of ['no/such', 'initialize', 'roots/list', 'elicitation/create']) t.match(await modern(method, {}), refused(404, -32_601), method)
  for (const body of [{ jsonrpc: '2.0', method: 'notifications/no_such' }, { jsonrpc: '2.0', id: 9, result: {} }, { jsonrpc: '2.0', id: 9, error: { code: 1, message: 'x' } }]) {
    t.match(await legacy(body), { status: 202, text: '' })
  }
})

t.test('bodies that aren\'t messages of JSON-RPC are refused', async t => {
  const bodies = [
    request('ping', {}, null), request('ping', {}, 1.5), request('ping', {}, { a: 1 }), request('ping', {}, [1]), request('ping', [1]),
    { jsonrpc: '2.0', id: 1, method: 5 }, [], [1, null], [request('ping'), { id: 2 }]
  ]
  for (const body of bodies) t.match(await legacy(body, { version: '2025-03-26' }), refused(400, -32_600), JSON.stringify(body))
  t.match(await legacy('{"jsonrpc":"2.0","id":1e400,"method":"ping"}'), { status: 200, text: /"id":1e400/ }, 'but an id is given back as it was written')
  t.match(await legacy('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"__proto__":{"a":1}}}}'), refused(400, -32_700))
})

t.test('parameters of a wrong form are an error of the client, and the answer names each', async t => {
  const wrong: Array<[string, object, RegExp]> = [
    ['initialize', { protocolVersion: 5 }, /protocolVersion: /],
    ['logging/setLevel', { level: 'loud' }, /level: /],
    ['completion/complete', { ref: { type: 'x' }, argument: {} }, /ref/],
    ['prompts/get', { name: 5 }, /name: /],
    ['resources/read', {}, /uri: /],
    ['resources/subscribe', { uri: 5 }, /uri: /],
    ['tools/call', { name: 'echo', arguments: [1] }, /arguments/],
    ['tools/call', { name: 'echo', arguments: '{}' }, /arguments/],
    ['tools/call', {}, /name/],
    ['tools/list', { cursor: 'x' }, /cursor/]
  ]
  for (const [method, params, text] of wrong) {
    t.match((await legacy(request(method, params))).body, { error: { code: -32_602, message: text }, id: 1 }, method)
    if (!['initialize', 'logging/setLevel', 'resources/subscribe'].includes(method)) {
      t.match((await modern(method, { ...params })).body, { error: { code: -32_602, message: text } }, `${method} of 2026`)
    }
  }
})

t.test('a request of 2026 that does not say what it must is refused', async t => {
  const without = async (about: Record<string, unknown> | undefined): Promise<RpcAnswer> => await post(url, request('tools/list', about === undefined ? {} : { _meta: about }), {
    'x-api-key': keys.acme, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list'
  })
  t.match(await without(undefined), refused(400, -32_602))
  t.match(await without({ 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }), { body: { error: { code: -32_602, message: /clientCapabilities/ } } })
  t.match(await without({ ...meta, 'io.modelcontextprotocol/clientCapabilities': 'all' }), refused(400, -32_602))
  t.match(await modern('subscriptions/listen', { notifications: 'all' }), { body: { error: { code: -32_602, message: /notifications/ } } })
})

t.test('an address with an unknown parameter is refused: a typing error would name another workspace', async t => {
  for (const query of ['sesion=x', 'key=secret', 'queue=a&other=1']) {
    const answer = await post(`${url}?${query}`, request('ping'), { 'x-api-key': keys.acme })
    t.match(answer, { status: 400, body: { error: { code: -32_600, message: /is not a known parameter of \/mcp/ } } })
    t.notMatch(answer.text, 'secret')
  }
})

t.test('a client that says a content type without a body ends its session all the same', async t => {
  const session = await begin(keys.acme)
  const headers = { 'x-api-key': keys.acme, 'content-type': 'application/json', 'mcp-session-id': session }
  t.equal((await fetch(url, { method: 'DELETE', headers })).status, 204)
  t.equal((await fetch(url, { method: 'DELETE', headers })).status, 404)
})

t.test('for another tenant tasks, sessions and calls give the same answers as missing ones, at any process', async t => {
  const created = (await rpc(api.address, 'tools/call', { name: 'nap', arguments: { ms: 15_000 } }, { key: keys.acme, meta: tasks })).body.result
  const taskId = String(created?.['taskId'])
  for (const { address } of [api, other]) {
    for (const method of ['get', 'cancel', 'update']) {
      const asked = async (id: string): Promise<unknown> => {
        const params = { taskId: id, ...(method === 'update' ? { inputResponses: {} } : {}) }
        return (await rpc(address, `tasks/${method}`, params, { key: keys.other, meta: tasks })).body.error
      }
      t.same(await asked(taskId), await asked('01a00000-0000-7000-8000-000000000000'), method)
    }
  }
  t.equal(await statusOf(taskId), 'running')
  t.match((await rpc(other.address, 'tasks/cancel', { taskId }, { key: keys.acme, meta: tasks })).body, { result: {} })
  await waitFor('its own tenant ends it', async () => await statusOf(taskId) === 'cancelled')

  const session = await begin(keys.acme)
  const headers = { 'mcp-session-id': session }
  const calling = legacy(request('tools/call', { name: 'nap', arguments: { ms: 1_500 } }, 'mine'), { headers })
  const id = await runningOf()
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'mine' } }
  t.match(await legacy(cancelled, { key: keys.other, headers }), refused(404, -32_001))
  t.match(await legacy(cancelled, { key: keys.other, headers: { 'mcp-session-id': await begin(keys.other) } }), { status: 202 })
  t.match(await legacy(cancelled, { headers: { 'mcp-session-id': await begin(keys.acme) } }), { status: 202 }, 'of another session of the same key')
  t.match((await calling).body, { id: 'mine', result: { structuredContent: { slept: 1_500 } } })
  t.equal(await statusOf(id), 'succeeded')
  t.equal((await fetch(url, { method: 'DELETE', headers: { 'x-api-key': keys.other, ...headers } })).status, 404)
  t.match(await legacy(request('ping'), { headers }), { status: 200 })
})

t.test('a storm of notifications from one client leaves the calls of others alone', async t => {
  const session = await begin(keys.other)
  const storm = Array.from({ length: 300 }, async (_, requestId) => (
    await legacy({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }, { key: keys.other, headers: { 'mcp-session-id': session } })
  ))
  const called = await modern('tools/call', { name: 'echo', arguments: { a: 1 } })
  t.match(called.body.result, { structuredContent: { a: 1 } })
  t.same([...new Set((await Promise.all(storm)).map(({ status }) => status))], [202])
})

t.test('clients that vanish leave nothing behind: no job, and no stream that counts against the limit', async t => {
  const open = async (signal: AbortSignal): Promise<number[]> => await Promise.all(Array.from({ length: mostStreams }, async () => (
    (await fetch(url, { headers: { 'x-api-key': keys.acme, 'mcp-protocol-version': '2025-11-25', accept: 'text/event-stream' }, signal })).status
  )))
  const full = Array.from({ length: mostStreams }, () => 200)
  const gone = new AbortController()
  t.same(await open(gone.signal), full)
  const calls = Array.from({ length: mostStreams }, async () => (
    await rpc(api.address, 'tools/call', { name: 'nap', arguments: { ms: 15_000 } }, { key: keys.acme, signal: gone.signal })
  ))
  for (const each of calls) each.catch(() => {})
  const jobs = async (status: string): Promise<number> => (await http.request<{ jobs: object[] }>(`/v1/jobs?status=${status}`, { key: keys.acme })).body.jobs.length
  await waitFor('all calls are jobs', async () => await jobs('running') + await jobs('queued') === mostStreams)
  gone.abort()
  await waitFor('no job is left', async () => await jobs('running') + await jobs('queued') === 0)
  const last = new AbortController()
  await waitFor('there is room for as many streams', async () => (await open(last.signal)).every(status => status === 200))
  last.abort()
})
