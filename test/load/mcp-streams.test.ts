import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { createService, testKeys } from '../support/service.ts'
import { programs, entries } from '../e2e/tools.ts'
import { meta, rpc } from '../mcp/clients.ts'
import { plainRedis } from '../support/connection.ts'

const most = 1_000
const service = await createService(t, { files: programs, tools: entries, env: { MAX_STREAMS: String(most), SSE_HEARTBEAT_SEC: '60' } })
const { address } = service.api
const key = testKeys.admin
const redis = plainRedis(t, service.redis)
const gone = new AbortController()
t.teardown(() => { gone.abort() })

/** Opens a stream of changes, as a client of 2025 or of 2026 does. */
async function listen (index: number): Promise<Response> {
  const headers = { 'x-api-key': key, accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
  const { signal } = gone
  if (index % 2 === 0) return await fetch(`${address}/mcp`, { headers: { ...headers, 'mcp-protocol-version': '2025-11-25' }, signal })
  const params = { notifications: { toolsListChanged: true }, _meta: meta }
  return await fetch(`${address}/mcp`, {
    method: 'POST',
    headers: { ...headers, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' },
    body: JSON.stringify({ jsonrpc: '2.0', id: index, method: 'subscriptions/listen', params }),
    signal
  })
}

const connections = async (): Promise<number> => (await redis.call('CLIENT', 'LIST') as string).trim().split('\n').length

t.test('a thousand MCP clients hold streams and all hear of a change; calls go on; one more client gets a 503', async t => {
  const before = await connections()
  const streams: Response[] = []
  for (let from = 0; from < most; from += 100) {
    streams.push(...await Promise.all(Array.from({ length: 100 }, (_, index) => listen(from + index))))
  }
  t.same([...new Set(streams.map(({ status }) => status))], [200])
  t.equal(await connections(), before, 'they share the connections of the process')
  for (const index of [0, 1]) {
    const refused = await listen(index)
    t.match([refused.status, refused.headers.get('retry-after'), await refused.json()], [503, '1', { error: { data: { code: 'UNAVAILABLE' } } }])
  }
  const called = await rpc(address, 'tools/call', { name: 'echo', arguments: { a: 1 } }, { key })
  t.match(called.body.result, { structuredContent: { a: 1 } }, 'a call is no stream of these')

  let heard = 0
  const hearing = streams.map(async ({ body }) => {
    let text = ''
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      text += Buffer.from(piece).toString()
      if (!text.includes('notifications/tools/list_changed')) continue
      heard += 1
      break
    }
  })
  for (const each of hearing) each.catch(() => {})
  const file = join(service.dir, 'tools.json')
  const { tools } = JSON.parse(await readFile(file, 'utf8')) as { tools: object[] }
  await writeFile(file, JSON.stringify({ tools: [...tools, { name: 'later', schema: { type: 'object' }, command: ['./tools/bin/echo'] }] }))
  await waitFor('all have heard', () => heard === most, 120_000)

  gone.abort()
  await waitFor('there is room again', async () => {
    const again = await rpc(address, 'tools/list', {}, { key })
    const stream = await fetch(`${address}/mcp`, { headers: { 'x-api-key': key, accept: 'text/event-stream', 'mcp-protocol-version': '2025-11-25' } })
    await stream.body?.cancel()
    return again.status === 200 && stream.status === 200
  })
})
