import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect as connectSocket } from 'node:net'
import t, { type Test } from 'tap'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { collectGarbage } from '../support/garbage.ts'
import { injectService, openTestApi } from '../support/injected.ts'
import { testKeys } from '../support/service.ts'
import { post } from './clients.ts'

const service = await injectService(t, { workers: 0 })
const app = await openTestApi(t, service.env)
const url = new URL(`${await app.listen({ host: '127.0.0.1', port: 0 })}/mcp`)
const redis = await connectTo(t, service.redis)
const clients = 20
const about = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: about }
const session = (await post(url.href, initialize, { 'x-api-key': testKeys.admin })).headers.get('mcp-session-id') ?? ''

/** Sends a request from many clients that close their connections while Redis is slow; how many responses stay in memory. */
async function staying (t: Test, method: string, path: string, lines: string[]): Promise<number> {
  const responses: Array<WeakRef<ServerResponse>> = []
  const note = (_request: unknown, response: ServerResponse): void => { responses.push(new WeakRef(response)) }
  app.server.on('request', note)
  t.teardown(() => app.server.off('request', note))
  const head = [`${method} ${path} HTTP/1.1`, `host: ${url.host}`, `x-api-key: ${testKeys.admin}`, ...lines]
  const sockets = Array.from({ length: clients }, () => connectSocket(Number(url.port), url.hostname))
  await Promise.all(sockets.map(socket => once(socket, 'connect')))
  await redis.client('PAUSE', 1_000)
  for (const socket of sockets) socket.write(`${head.join('\r\n')}\r\n\r\n`)
  await waitFor('the requests have come', () => responses.length === clients)
  for (const socket of sockets) socket.destroy()
  await redis.ping()
  const count = (): number => {
    collectGarbage()
    return responses.filter(each => each.deref() !== undefined).length
  }
  // The last ones may still be held by what closes them.
  await waitFor('they are forgotten', () => count() <= 2).catch(() => {})
  return count()
}

t.test('a client that leaves before its stream of changes is open is forgotten', async t => {
  t.ok(await staying(t, 'GET', '/mcp', ['mcp-protocol-version: 2025-11-25', 'accept: text/event-stream', `mcp-session-id: ${session}`]) <= 2)
})
