import t from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { injectService } from '../support/injected.ts'
import { testKeys } from '../support/service.ts'
import { meta, type RpcAnswer } from './clients.ts'

const { app } = await injectService(t, { files: programs, tools: entries })
const stream = 'text/event-stream'
const both = `application/json, ${stream}`

/** Sends one request, with the headers of a well-behaved client of 2025 unless others are named; an undefined one is left out. */
async function send (
  body: unknown, headers: Record<string, string | undefined> = {}, { url = '/mcp', method = 'POST' }: { url?: string, method?: 'POST' | 'GET' | 'DELETE' } = {}
): Promise<{ status: number, type: string, body: RpcAnswer['body'], session: string | undefined }> {
  const all = { 'x-api-key': testKeys.admin, 'content-type': 'application/json', accept: both, ...headers }
  const answer = await app.inject({
    method,
    url,
    headers: Object.fromEntries(Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined)),
    ...body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }
  })
  const last = answer.payload.split('\n').filter(line => line.startsWith('data: ')).at(-1)?.slice(6) ?? answer.payload
  return {
    status: answer.statusCode,
    type: String(answer.headers['content-type'] ?? '').split(';')[0] ?? '',
    body: last === '' ? {} : JSON.parse(last) as RpcAnswer['body'],
    session: answer.headers['mcp-session-id'] as string | undefined
  }
}

const request = (method: string, params?: unknown, id: unknown = 1): object => ({ jsonrpc: '2.0', id, method, ...params !== undefined && { params } })
const about = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
const initialize = request('initialize', about)
const call = request('tools/call', { name: 'echo', arguments: { a: 1 } })
const done = { status: 200, body: { id: 1, result: {} } }
const echoed = { status: 200, body: { id: 1, result: { structuredContent: { a: 1 } } } }

t.test('a client may accept whatever it likes, as long as it takes JSON or a stream of events', async t => {
  const accepts = [undefined, '', '*/*', '*/*;q=0.8', 'application/json', 'application/*', 'Application/JSON;q=0.9', 'application/json; charset=utf-8', `${stream};q=0.5, application/json;q=0.9`, 'text/html, application/json;q=0.9, */*;q=0.1']
  for (const accept of accepts) {
    t.match(await send(initialize, { accept }), { status: 200, type: 'application/json', body: { result: { serverInfo: { name: 'toolyard' } } } }, `initialize: ${accept}`)
    t.match(await send(call, { accept }), { ...echoed, type: accept?.includes(stream) === true ? stream : 'application/json' }, `a call: ${accept}`)
    t.match(await send({ jsonrpc: '2.0', method: 'notifications/initialized' }, { accept }), { status: 202 }, `a notification: ${accept}`)
  }
  for (const accept of [stream, 'text/*', `${stream};q=0.2`, `application/json;q=0, ${stream}`, 'application/json;q=0, */*']) {
    t.match(await send(request('ping'), { accept }), { ...done, type: stream }, accept)
    t.match(await send(call, { accept }), { ...echoed, type: stream }, accept)
  }
  for (const accept of ['text/html', 'application/xml, image/*', 'application/json;q=0', '*/*;q=0']) {
    t.match(await send(call, { accept }), { status: 406, body: { id: 1, error: { code: -32_000, message: /application\/json.*text\/event-stream/ } } }, accept)
  }
})

t.test('a client of 2026 may, too', async t => {
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'echo' }
  for (const accept of [undefined, '*/*', 'application/json', stream, `${stream}; q=0.1`]) {
    t.match(await send(request('tools/call', { name: 'echo', arguments: { a: 1 }, _meta: meta }), { ...headers, accept }), echoed, String(accept))
  }
  const listen = { ...headers, 'mcp-method': 'subscriptions/listen', 'mcp-name': undefined, accept: 'application/json' }
  const listening = request('subscriptions/listen', { notifications: { toolsListChanged: true }, _meta: meta })
  t.match(await send(listening, listen), { status: 406, body: { error: { message: /text\/event-stream/ } } }, 'what is answered by a stream alone needs one')
})

t.test('GET is answered to who asks for a stream of events, and another one is told what to send', async t => {
  for (const accept of [undefined, '*/*', 'application/json']) {
    t.match(await send(undefined, { accept, 'content-type': undefined }, { method: 'GET' }), { status: 406, body: { error: { message: /Accept: text\/event-stream.*POST/ } } })
  }
})

t.test('the address may have more slashes than it needs', async t => {
  for (const url of ['/mcp/', '//mcp', '/mcp//', '/mcp/?queue=default', '/mcp?queue=default']) t.match(await send(call, {}, { url }), echoed, url)
  t.match(await send(undefined, {}, { url: '/mcp/', method: 'DELETE' }), { status: 400 })
  for (const url of ['/mcp/x', '/mcpx', '/mcp/x/']) t.match(await send(call, {}, { url }), { status: 404 }, url)
})

t.test('null is what is left out', async t => {
  t.match(await send('{"jsonrpc":"2.0","id":1,"method":"ping","params":null,"result":null,"error":null}'), done)
  t.match(await send(request('tools/list', null)), { status: 200, body: { result: { tools: Array } } })
  t.match(await send(request('tools/list', { cursor: null, _meta: null })), { status: 200, body: { result: { tools: Array } } })
  t.match(await send(request('tools/call', { name: 'echo', arguments: null, _meta: null, task: null })), { status: 200, body: { result: { structuredContent: {} } } })
  t.match(await send(request('tools/call', { name: 'echo', arguments: { a: 1 }, _meta: { progressToken: null, other: null } })), echoed)
  const nulls = {
    ...about,
    capabilities: { roots: null, sampling: null, elicitation: { form: null }, experimental: null },
    clientInfo: { ...about.clientInfo, title: null, icons: null, websiteUrl: null },
    _meta: null
  }
  t.match(await send(request('initialize', { ...about, capabilities: null })), { status: 200, body: { result: { protocolVersion: '2025-06-18' } } })
  for (const clientInfo of [undefined, null, {}, { name: 'raw' }]) {
    t.match(await send(request('initialize', { protocolVersion: '2025-06-18', clientInfo })), { status: 200, body: { result: { protocolVersion: '2025-06-18' } } })
  }
  t.match(await send(request('initialize', nulls)), { status: 200, body: { result: { protocolVersion: '2025-06-18' } } })
  t.match(await send({ jsonrpc: '2.0', id: null, method: 'notifications/initialized', params: null }), { status: 202 })
  t.match(await send(request('resources/templates/list', { cursor: null })), done)
  const said = await send(request('tools/call', { name: 'echo', arguments: { a: null, b: [null, { c: null }] } }))
  t.match(said, { body: { result: { structuredContent: { a: null, b: [null, { c: null }] } } } }, 'but in arguments it is a value')
})

t.test('what some languages write for nothing, an empty list or an empty text, is nothing', async t => {
  t.match(await send(request('ping', [])), done)
  t.match(await send(request('tools/list', { cursor: '' })), { status: 200, body: { result: { tools: Array } } })
  t.match(await send(request('tools/call', { name: 'echo', arguments: [], _meta: [] })), { status: 200, body: { result: { structuredContent: {} } } })
  t.match(await send(request('initialize', { ...about, capabilities: [] })), { status: 200, body: { result: { protocolVersion: '2025-06-18' } } })
})

t.test('a client that begins anew may send the id of a session that is over', async t => {
  const { session } = await send(initialize)
  t.match(await send(undefined, { 'mcp-session-id': session }, { method: 'DELETE' }), { status: 204 })
  for (const old of [session, 'made-up', '']) {
    const begun = await send(initialize, { 'mcp-session-id': old })
    t.match(begun, { status: 200, body: { result: {} } })
    t.match(await send(request('ping'), { 'mcp-session-id': begun.session }), done)
  }
  t.match(await send(request('ping'), { 'mcp-session-id': session }), { status: 404 }, 'anything else with it is refused')
  t.match(await send(request('ping'), { 'mcp-session-id': '' }), done, 'an empty id is none')
})

t.test('headers that proxies write twice, or that are empty, count once or not at all', async t => {
  const { session } = await send(initialize)
  t.match(await send(request('ping'), { 'mcp-protocol-version': '2025-06-18, 2025-06-18', 'mcp-session-id': `${session}, ${session}` }), done)
  t.match(await send(request('ping'), { 'mcp-protocol-version': '' }), done)
  for (const version of [undefined, '2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) t.match(await send(request('ping'), { 'mcp-protocol-version': version }), done, String(version))
  t.match(await send(request('ping'), { 'mcp-protocol-version': '2019-01-01' }), { status: 400, body: { error: { message: /2019-01-01.*2025-11-25/ } } })
  for (const type of ['application/json;charset=UTF-8', 'APPLICATION/JSON', 'application/json; charset="utf-8"']) t.match(await send(request('ping'), { 'content-type': type }), done, type)
})

t.test('what a message is not is said in words', async t => {
  const wrong: Array<[object, RegExp]> = [
    [{ id: 1, method: 'ping' }, /'jsonrpc' must be "2\.0"/],
    [{ jsonrpc: 2, id: 1, method: 'ping' }, /'jsonrpc' must be "2\.0"/],
    [{ jsonrpc: '2.0', id: 1 }, /'method'/],
    [{ jsonrpc: '2.0', id: 1, method: 7 }, /'method' must be a text/],
    [{ jsonrpc: '2.0', id: null, method: 'ping' }, /'id' must be a text or an integer/],
    [{ jsonrpc: '2.0', id: { a: 1 }, method: 'ping' }, /'id' must be a text or an integer/],
    [{ jsonrpc: '2.0', id: 1.5, method: 'ping' }, /'id' must be a text or an integer/],
    [request('ping', 'x'), /'params' must be an object/],
    [request('ping', [1]), /'params' must be an object/]
  ]
  for (const [body, message] of wrong) {
    t.match(await send(body), { status: 400, body: { error: { code: -32_600, message } } }, JSON.stringify(body))
  }
  for (const accept of ['application/json', stream]) {
    for (const [params, message] of [[{ arguments: {} }, /^Invalid params: params\.name: /], [{ name: 'echo', arguments: 'x' }, /^Invalid params: params\.arguments: /]] as const) {
      t.match(await send(request('tools/call', params), { accept }), { status: 200, type: accept, body: { error: { code: -32_602, message } } }, accept)
    }
    t.match(await send(request('logging/setLevel', { level: 7 }), { accept }), { status: 200, type: accept, body: { error: { code: -32_602, message: /^Invalid params: params\.level: / } } }, accept)
  }
  t.match(await send({ ...request('ping'), extra: 1, trace: {} }), done, 'a member that is not known is let be')
})

t.test('batches of JSON-RPC are refused in all revisions, and the answer says what to send', async t => {
  for (const version of [undefined, '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']) {
    for (const batch of [[], [request('ping')], [request('ping'), request('ping', {}, 2)], [1, null]]) {
      t.match(await send(batch, { 'mcp-protocol-version': version }), { status: 400, body: { id: null, error: { code: -32_600, message: /send each message by itself/ } } }, String(version))
    }
  }
})
