import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { consoleHeader } from '@toolyard/contract'
import t from 'tap'
import { logIn } from '../dashboard/visitor.ts'
import { entries, programs } from '../e2e/tools.ts'
import { waitFor } from '../support/condition.ts'
import { plainRedis } from '../support/connection.ts'
import { createService } from '../support/service.ts'

/* Requests whose body comes when what they were let in with is over. */

const service = await createService(t, { files: programs, tools: entries, env: { SECRETS_KEY: '0123456789abcdef'.repeat(4) } })
const { client } = service
const { hostname, port } = new URL(service.api.address)
const redis = plainRedis(t, service.redis)

/** What takes a body that makes or changes something, and is the operator's too. */
const requests = [
  ['POST', '/v1/jobs', { type: 'agentcli.echo', input: { late: 1 } }],
  ['POST', '/v1/tools/echo', { late: 1 }],
  ['POST', '/v1/agent-tools/invoke-batch', { calls: [{ call_id: 'c', name: 'echo', arguments: { late: 1 } }] }],
  ['POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: { late: 1 } } }],
  ['PUT', '/v1/secrets/token', { value: 'of-the-revoked-key', scope: 'key' }],
  ['POST', '/v1/sessions', {}],
  ['POST', '/v1/auth/sse-token', {}],
  ['POST', '/v1/keys', { name: 'made-by-the-revoked-key', role: 'admin' }],
  ['PATCH', '/v1/job-types/agentcli.echo', { enabled: true }]
] as const
const all: ReadonlyArray<typeof requests[number]> = requests

interface Begun {
  /** Sends the rest; the status of the answer. */
  end: () => Promise<number>
}

/** Sends the head of a request and the first byte of its body. */
async function begin (method: string, path: string, body: object, headers: Readonly<Record<string, string>>): Promise<Begun> {
  const socket: Socket = connect(Number(port), hostname)
  t.teardown(() => { socket.destroy() })
  await once(socket, 'connect')
  const json = ` ${JSON.stringify(body)}`
  const lines = {
    host: `${hostname}:${port}`, connection: 'close', 'content-type': 'application/json', accept: 'application/json, text/event-stream',
    'content-length': String(json.length), ...headers
  }
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.write(`${method} ${path} HTTP/1.1\r\n${head}\r\n${json.slice(0, 1)}`)
  return {
    end: async () => {
      socket.write(json.slice(1))
      return Number((await text(socket)).slice('HTTP/1.1 '.length).split(' ', 1)[0])
    }
  }
}

async function beginAll (headers: Readonly<Record<string, string>>, taken: typeof all = all): Promise<Begun[]> {
  const begun = await Promise.all(taken.map(async ([method, path, body]) => await begin(method, path, body, headers)))
  // What comes later than this counts as late.
  await delay(150)
  return begun
}

async function endAll (begun: readonly Begun[]): Promise<number[]> {
  return await Promise.all(begun.map(async ({ end }) => await end()))
}

async function make (name: string): Promise<string> {
  return (await client.request<{ key: { key: string } }>('/v1/keys', { body: { name, role: 'admin', expires_in_sec: 3_600 } })).body.key.key
}

/** What there is of what the requests make. */
async function made (): Promise<unknown[]> {
  const { body: { keys } } = await client.request<{ keys: Array<{ name: string }> }>('/v1/keys')
  const others = await Promise.all(['/v1/jobs/counts', '/v1/sessions', '/v1/secrets'].map(async path => await client.request(path)))
  return [...keys.map(({ name }) => name), ...others.map(({ body }) => body)]
}

t.test('a body that comes late is taken while its key is good', async t => {
  const key = await make('good')
  for (const [at, status] of (await endAll(await beginAll({ 'x-api-key': key }))).entries()) t.ok(status >= 200 && status < 300, `${requests[at]?.[1] ?? ''}: ${status}`)
})

t.test('what comes when its key is revoked is refused, and does nothing', async t => {
  const key = await make('revoked')
  const begun = await beginAll({ 'x-api-key': key })
  t.equal((await client.request('/v1/keys/revoked', { method: 'DELETE' })).status, 200)
  const before = await made()
  t.same(await endAll(begun), requests.map(() => 401))
  t.same(await made(), before)
})

t.test('nor does a new key of the name get what the earlier one sends late', async t => {
  const key = await make('again')
  const [put] = await beginAll({ authorization: `Bearer ${key}` }, [requests[4]])
  await client.request('/v1/keys/again', { method: 'DELETE' })
  const other = await make('again')
  t.equal(await put?.end(), 401)
  t.match((await client.request('/v1/secrets', { key: other })).body, { secrets: [] })
})

t.test('what comes when the time of its key is over is refused', async t => {
  const key = await make('over')
  const begun = await beginAll({ 'x-api-key': key })
  const digest = await redis.hget('toolyard:{keys}:names', 'over') ?? ''
  await redis.pexpire(`toolyard:{keys}:${digest}`, 1)
  await waitFor('its time is over', async () => (await client.request('/v1/auth/whoami', { key })).status === 401)
  t.same(await endAll(begun), requests.map(() => 401))
})

t.test('what comes after a logout is refused', async t => {
  const cookie = await logIn(service.api.address)
  const headers = { cookie, [consoleHeader]: '1', 'sec-fetch-site': 'same-origin' }
  const ofConsole = requests.filter(([, path]) => path !== '/mcp')
  const begun = await beginAll(headers, ofConsole)
  await client.request('/v1/auth/logout', { key: null, method: 'POST', headers })
  t.same(await endAll(begun), ofConsole.map(() => 401))
})

t.test('an upload and a stream end when their login does', async t => {
  const { address } = await service.startApi({ SSE_HEARTBEAT_SEC: '0.2' })
  const headers = { cookie: await logIn(address), [consoleHeader]: '1', 'sec-fetch-site': 'same-origin' }
  const { body: { job } } = await client.request<{ job: { id: string } }>('/v1/jobs', { body: { type: 'agentcli.echo', delay_ms: 600_000 } })
  const { body: { session } } = await client.request<{ session: { id: string } }>('/v1/sessions', { body: {} })
  const files = `/v1/sessions/${session.id}/files`
  const stream = await fetch(`${address}/v1/jobs/${job.id}/stream`, { headers })
  t.equal(stream.status, 200)
  const body = new ReadableStream<Uint8Array>({ start (controller) { controller.enqueue(Buffer.from('first')) } })
  const put = fetch(`${address}${files}/x`, { method: 'PUT', headers, body, duplex: 'half' })
  await client.request('/v1/auth/logout', { key: null, method: 'POST', headers })
  t.match(await stream.text(), /: the key or token of this stream opens nothing any more/)
  t.equal((await put).status, 401)
  t.match((await client.request(files)).body, { entries: [] })
})
