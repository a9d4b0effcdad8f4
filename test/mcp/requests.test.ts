import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { reach, running } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { createService, testKeys } from '../support/service.ts'
import { initialize, connect, eras, meta, post, rpc } from './clients.ts'

const { client: http, api, dir, startApi } = await createService(t, { files: programs, tools: entries, env: { MAX_STREAMS: '3' } })
const other = await startApi()
const key = testKeys.admin
const url = `${api.address}/mcp`
const legacy = { 'x-api-key': key, 'mcp-protocol-version': '2025-11-25' }
const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' }

async function begin (): Promise<string> {
  return (await post(url, initialize, { 'x-api-key': key })).headers.get('mcp-session-id') ?? ''
}

/** Opens the stream of a session; says how it was answered. */
async function listen (session: string | undefined, address = api.address, signal = new AbortController().signal): Promise<Response> {
  const headers = { ...legacy, accept: 'text/event-stream', ...(session === undefined ? {} : { 'mcp-session-id': session }) }
  return await fetch(`${address}/mcp`, { headers, signal })
}

t.test('headers that are missing, or that disagree with the body, are refused as the revision says', async t => {
  const mismatch = { status: 400, body: { error: { code: -32_020 }, id: 1 } }
  t.match(await rpc(api.address, 'tools/list', {}, { key, headers: { 'mcp-method': 'tools/call' } }), mismatch)
  t.match(await rpc(api.address, 'tools/list', {}, { key, headers: { 'mcp-method': undefined } }), mismatch)
  t.match(await rpc(api.address, 'tools/call', { name: 'echo' }, { key, headers: { 'mcp-name': 'fail' } }), mismatch)
  t.match(await rpc(api.address, 'tools/list', {}, { key, headers: { 'mcp-protocol-version': '2025-11-25' } }), mismatch)
})

t.test('unknown versions are refused, and the answer lists the known ones', async t => {
  const about = { ...meta, 'io.modelcontextprotocol/protocolVersion': '2031-01-01' }
  const unknown = await rpc(api.address, 'tools/list', {}, { key, meta: about, headers: { 'mcp-protocol-version': '2031-01-01' } })
  t.match(unknown, { status: 400, body: { error: { code: -32_022, data: { supported: ['2026-07-28'] } } } })
  t.equal((await post(url, list, { ...legacy, 'mcp-protocol-version': '1999-01-01' })).status, 400)
  const offered = await post(url, { ...initialize, params: { ...initialize.params, protocolVersion: '1999-01-01' } }, { 'x-api-key': key })
  t.match(offered.body.result, { protocolVersion: '2025-11-25' }, 'a handshake is offered what there is')
})

t.test('malformed bodies are refused as JSON-RPC says, with a key and without', async t => {
  t.match(await post(url, '{', legacy), { status: 400, body: { error: { code: -32_700 }, id: null } })
  t.match(await post(url, 'null', legacy), { status: 400, body: { error: { code: -32_600 } } })
  t.match(await post(url, '{"jsonrpc":"1.0","id":1}', legacy), { status: 400, body: { error: { code: -32_600 } } })
  t.match(await post(url, `"${'x'.repeat(1_100_000)}"`, legacy), { status: 413, body: { error: { data: { code: 'PAYLOAD_TOO_LARGE' } } } })
  t.match(await post(url, '{', { ...legacy, 'content-type': 'text/plain' }), { status: 415 })
  t.match(await post(url, `${'['.repeat(200)}${']'.repeat(200)}`, legacy), { status: 400 })
  t.match(await post(url, '{', { ...legacy, 'x-api-key': 'wrong' }), { status: 401, body: { error: { data: { code: 'UNAUTHORIZED' } } } })
  t.equal((await post(url, list, { ...legacy, accept: 'text/html' })).status, 406)
  t.equal((await post(`${url}?queue=A`, list, legacy)).status, 400)
})

t.test('pages of other sites are refused, with a key or without', async t => {
  t.match(await post(url, list, { ...legacy, origin: 'http://evil.example' }), { status: 403 })
  t.equal((await post(url, list, { ...legacy, origin: api.address })).status, 200)
})

t.test('other methods are not allowed', async t => {
  for (const method of ['PUT', 'PATCH', 'HEAD']) {
    const answer = await fetch(url, { method, headers: legacy })
    t.match([answer.status, answer.headers.get('allow')], [405, 'POST, GET, DELETE'])
  }
  t.equal((await fetch(url, { headers: { ...legacy, 'mcp-protocol-version': '2026-07-28', accept: 'text/event-stream' } })).status, 405)
  t.equal((await fetch(url, { headers: legacy })).status, 406)
})

t.test('every process knows a session, only its key may use it, and nobody after its end', async t => {
  const session = await begin()
  t.match(session, /^[!-~]+$/)
  const ask = async (address: string, headers: object): Promise<number> => (
    await post(`${address}/mcp`, list, { ...legacy, 'mcp-session-id': session, ...headers })
  ).status
  t.equal(await ask(other.address, {}), 200)
  t.equal(await ask(api.address, { 'x-api-key': testKeys.read }), 404)
  for (
    const made of ['x', session.slice(1), `${session}0`, session.replace(/^./, '!')]
  ) t.equal(await ask(api.address, { 'mcp-session-id': made }), 404, made)
  t.equal((await fetch(url, { method: 'DELETE', headers: legacy })).status, 400)
  const stream = await listen(session)
  t.equal((await fetch(`${other.address}/mcp`, { method: 'DELETE', headers: { ...legacy, 'mcp-session-id': session } })).status, 204)
  t.equal(await stream.text(), '', 'its stream ends, at whatever process')
  t.equal(await ask(api.address, {}), 404)
  t.equal((await listen(session)).status, 404)
})

t.test('a session has one stream over all processes, the newest', async t => {
  const session = await begin()
  const first = await listen(session)
  const left = new AbortController()
  const second = await listen(session, other.address, left.signal)
  t.equal(second.status, 200)
  t.equal(await first.text(), '')
  left.abort()
})

t.test('streams beyond MAX_STREAMS are refused in both eras; calls are not counted', async t => {
  const left = new AbortController()
  const open = await Promise.all([1, 2, 3].map(() => listen(undefined, api.address, left.signal)))
  t.same(open.map(({ status }) => status), [200, 200, 200])
  const full = { status: 503, body: { error: { data: { code: 'UNAVAILABLE' } } } }
  const refused = await listen(undefined)
  t.equal(refused.status, 503)
  t.equal(refused.headers.get('retry-after'), '1')
  await refused.text()
  t.match(await rpc(api.address, 'subscriptions/listen', { notifications: { toolsListChanged: true } }, { key }), full)
  t.match(
    (await rpc(api.address, 'tools/call', { name: 'echo', arguments: { a: 1 } }, { key })).body.result, { structuredContent: { a: 1 } }
  )
  left.abort()
  await waitFor('there is room again', async () => {
    const again = new AbortController()
    const { status } = await listen(undefined, api.address, again.signal)
    again.abort()
    return status === 200
  })
})

t.test('a call is cancelled when its client of 2026 vanishes and goes on when its client of 2025 does, if the address says nothing else', async t => {
  const said = [undefined, 'cancel', 'leave'] as const
  for (const [era, onDisconnect] of eras.flatMap(era => said.map(each => [era, each] as const))) {
    const query = onDisconnect === undefined ? '' : `?on_disconnect=${onDisconnect}`
    const gone = new AbortController()
    const params = { name: 'nap', arguments: { ms: 1_500 } }
    const calling = era === '2026-07-28'
      ? rpc(api.address, 'tools/call', params, { key, path: `/mcp${query}`, signal: gone.signal })
      : post(`${url}${query}`, { jsonrpc: '2.0', id: 3, method: 'tools/call', params }, legacy, gone.signal)
    calling.catch(() => {})
    const id = await running(http)
    gone.abort()
    const { status } = await reach(http, id, 'succeeded', 'failed', 'cancelled')
    const cancels = (onDisconnect ?? (era === '2026-07-28' ? 'cancel' : 'leave')) === 'cancel'
    t.equal(status, cancels ? 'cancelled' : 'succeeded', `${era} ${query}`)
  }
  t.match(await post(`${url}?on_disconnect=stay`, list, legacy), { status: 400, body: { error: { message: /must be 'cancel' or 'leave'/ } } })
})

t.test('a client with an open stream hears that the tools have changed, in both eras', async t => {
  const heard = await Promise.all(eras.map(async era => {
    let changed: () => void = () => {}
    const change = new Promise<void>(resolve => { changed = resolve })
    const { client } = await connect(t, api.address, key, era, { listChanged: { tools: { onChanged: () => { changed() } } } })
    return { era, client, change }
  }))
  const { tools } = JSON.parse(await readFile(join(dir, 'tools.json'), 'utf8')) as { tools: object[] }
  await writeFile(
    join(dir, 'tools.json'),
    JSON.stringify({ tools: [...tools, { name: 'later', schema: { type: 'object' }, command: ['./tools/bin/echo'] }] })
  )
  for (const { era, client, change } of heard) {
    await change
    t.ok((await client.listTools()).tools.some(({ name }) => name === 'later'), era)
  }
})
