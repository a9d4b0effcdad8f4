import t from 'tap'
import { writeHeader } from '@toolyard/workspace'
import { logIn } from '../dashboard/visitor.ts'
import fc from 'fast-check'
import { entries, programs } from '../e2e/tools.ts'
import type { Answer } from '../support/client.ts'
import { waitFor } from '../support/condition.ts'
import { createService, testKeys } from '../support/service.ts'
import { createClient } from '../support/client.ts'
import { openReader, type EventReader } from '../streams/event-reader.ts'
import { plainRedis } from '../support/connection.ts'
import { startRedisProxy } from '../support/redis-proxy.ts'

const service = await createService(t, { files: programs, tools: entries })
const { client } = service
const other = await service.startApi()
const elsewhere = createClient(other.address, testKeys.admin)
const redis = plainRedis(t, service.redis)

interface Made { name: string, key: string, tenant: string | null, expires_at: string | null, last_used_at: string | null, source: string }
const make = async (body: unknown, key: string = testKeys.admin): Promise<Answer<{ key: Made }>> => await client.request('/v1/keys', { body, key })
const list = async (): Promise<Made[]> => (await elsewhere.request<{ keys: Made[] }>('/v1/keys')).body.keys
const revoke = async (name: string): Promise<number> => (await client.request(`/v1/keys/${encodeURIComponent(name)}`, { method: 'DELETE' })).status
const whoAmI = async (key: string): Promise<Answer> => await elsewhere.request('/v1/auth/whoami', { key })

t.test('a new key works at every API process at once, and at none after it is revoked', async t => {
  const answer = await make({ name: 'acme app', role: 'admin', tenant: 'acme' })
  t.equal(answer.status, 201)
  t.equal(answer.headers.get('cache-control'), 'no-store')
  const { key } = answer.body.key
  t.match((await whoAmI(key)).body, { auth: { name: 'acme app', role: 'admin', tenant: 'acme' } })
  t.match((await elsewhere.batch([{ call_id: 'c', name: 'echo', arguments: { a: 1 } }], {}, key)).results, [{ ok: true, output: { a: 1 } }])
  t.equal(await revoke('acme app'), 200)
  t.equal(await revoke('acme app'), 404)
  await waitFor('the other process has heard of it', async () => (await whoAmI(key)).status === 401)
  t.equal((await client.request('/v1/auth/whoami', { key })).status, 401)
})

t.test('a list shows everything about a key except the key', async t => {
  const { body: { key: made } } = await make({ name: 'listed', role: 'read', queue_allowlist: ['a'], permissions: [], sse: false, expires_in_sec: 3_600 })
  await whoAmI(made.key)
  const listed = await waitFor('its use is noted', async () => (await list()).find(({ name, last_used_at: used }) => name === 'listed' && used !== null))
  const { key, last_used_at: used, expires_at: expires, ...rest } = made
  t.match(listed, { ...rest, queue_allowlist: ['a'], permissions: [], sse: false, role: 'read', source: 'redis' })
  t.ok(Math.abs(Date.parse(listed.expires_at ?? '') - Date.parse(expires ?? '')) < 5_000)
  t.same((await list()).filter(({ source }) => source === 'settings').map(({ name }) => name), ['admin', 'reader', 'limited'])
  t.notMatch((await elsewhere.request('/v1/keys')).text, new RegExp(`${key}|${testKeys.admin}`))
})

async function contentOf (name: string): Promise<unknown> {
  const type = await redis.type(name)
  if (type === 'hash') return await redis.hgetall(name)
  if (type === 'set') return await redis.smembers(name)
  if (type === 'zset') return await redis.zrange(name, '0', '-1')
  return type === 'list' ? await redis.lrange(name, 0, -1) : await redis.get(name)
}

t.test('no key is ever in Redis', async t => {
  const { body: { key: { key } } } = await make({ name: 'secret', role: 'read' })
  await whoAmI(key)
  const names = await redis.keys('*')
  const values = await Promise.all(names.filter(name => name.includes('{keys}')).map(async name => JSON.stringify(await contentOf(name))))
  t.ok(values.length > 1)
  t.notOk([...names, ...values].some(text => text.includes(key)))
})

t.test("a key's time ends by Redis' clock, and its name is free again", async t => {
  const { body: { key: { key } } } = await make({ name: 'short', role: 'admin', expires_in_sec: 60 })
  t.equal((await whoAmI(key)).status, 200)
  const digest = await redis.hget('toolyard:{keys}:names', 'short') ?? ''
  t.ok(await redis.pttl(`toolyard:{keys}:${digest}`) > 50_000)
  await redis.pexpire(`toolyard:{keys}:${digest}`, 1)
  await waitFor('its time is over', async () => (await whoAmI(key)).status === 401)
  t.notOk((await list()).some(({ name }) => name === 'short'))
  t.equal((await make({ name: 'short', role: 'admin' })).status, 201)
})

t.test('a key of which its maker hears nothing, since Redis refused something, was not made', async t => {
  const proxy = await startRedisProxy(t, { path: service.redis.socket })
  const { address } = await service.startApi({ REDIS_URL: proxy.url, SECRETS_KEY: 'ab'.repeat(32) })
  const body = { name: 'unheard', role: 'read' }
  void proxy.failWhere('NOPERM this user has no permissions', (_name, args) => args.some(arg => arg.includes('{secrets}:owners')))
  t.equal((await createClient(address, testKeys.admin).request('/v1/keys', { body })).status, 503)
  proxy.mend()
  t.equal((await createClient(address, testKeys.admin).request('/v1/keys', { body })).status, 201)
})

t.test('two keys can\'t have the same name', async t => {
  t.equal((await make({ name: 'twice', role: 'read' })).status, 201)
  const again = await make({ name: 'twice', role: 'read' })
  t.match([again.status, again.body], [409, { error: { code: 'CONFLICT', message: /There is a key 'twice' already/ } }])
  t.equal((await make({ name: 'admin', role: 'read' })).status, 409, 'also one of the settings')
  t.equal(await revoke('admin'), 409)
  t.match((await client.request('/v1/keys/admin', { method: 'DELETE' })).body, { error: { message: /take it out of API_KEYS_JSON, or API_KEY,/ } })
  const answers = await Promise.all(Array.from({ length: 8 }, async () => (await make({ name: 'raced', role: 'read' })).status))
  t.same(answers.sort(), [201, ...Array.from({ length: 7 }, () => 409)])
})

t.test('only an admin key without limits makes keys', async t => {
  const { body: { key: { key: ofTenant } } } = await make({ name: 'tenant-admin', role: 'admin', tenant: 'acme' })
  const { body: { key: { key: bound } } } = await make({ name: 'bound', role: 'admin', permissions: [] })
  for (const key of [testKeys.read, testKeys.limited, ofTenant, bound]) {
    t.equal((await make({ name: 'more', role: 'admin' }, key)).status, 403)
    t.equal((await client.request('/v1/keys', { key })).status, 403)
    t.equal((await client.request('/v1/keys/twice', { method: 'DELETE', key })).status, 403)
  }
})

t.test('an invalid new key is refused with the reason', async t => {
  const cases: Array<[unknown, RegExp]> = [
    [[], /must be an object/],
    [{ role: 'admin' }, /^'name' must have 1 to 100/],
    ...['', ' a', 'a ', '@acme', 'a\nb', '.', '..', 'oauth:ann', 'auth-disabled', '\ud800', 'x'.repeat(101)].map((name): [unknown, RegExp] => [{ name, role: 'admin' }, /^'name'/]),
    [{ name: 'a' }, /^'role' must be admin, approver or read$/],
    ...['Acme', '', '-a', 'a b', null, 'x'.repeat(65)].map((tenant): [unknown, RegExp] => [{ name: 'a', role: 'admin', tenant }, /^'tenant' must match/]),
    [{ name: 'a', role: 'admin', expires_in_sec: 59 }, /^'expires_in_sec' must be integer 60\.\./],
    [{ name: 'a', role: 'admin', queue_allowlist: ['UPPER'] }, /^'queue_allowlist'/],
    [{ name: 'a', role: 'admin', permissions: ['root'] }, /^'permissions' must be an array of/],
    [{ name: 'a', role: 'admin', colour: 'red' }, /^'colour' is not a known field/]
  ]
  for (const [body, message] of cases) {
    const answer = await make(body)
    t.match([answer.status, answer.body], [400, { error: { code: 'VALIDATION_ERROR', message } }], JSON.stringify(body))
  }
})

t.test('no text other than the key is accepted', async t => {
  const text = fc.oneof(fc.stringMatching(/^ty_[\w-]{43}$/), fc.stringMatching(/^[\x21-\x7e]{1,60}$/))
  await t.resolves(fc.assert(fc.asyncProperty(text, async key => (await whoAmI(key)).status === 401), { numRuns: 50 }))
})

t.test('when the settings later have a key of the same name, the stored key and its tickets stop working, and it can be revoked', async t => {
  const { body: { key: { key } } } = await make({ name: 'clash', role: 'admin', tenant: 'acme' })
  const { job_id: foreign } = await client.call('echo')
  const { body: { token } } = await client.request<{ token: string }>('/v1/auth/sse-token', { key, body: {} })
  const settled = JSON.stringify([{ name: 'clash', key: testKeys.admin, role: 'admin' }])
  const later = createClient((await service.startApi({ API_KEYS_JSON: settled })).address, testKeys.admin)
  t.equal((await later.request('/v1/auth/whoami', { key })).status, 401)
  t.equal((await later.request(`/v1/jobs/${String(foreign)}/stream?stream_token=${token}`, { key: null })).status, 401)
  t.equal((await client.request('/v1/auth/whoami', { key })).status, 200, 'where the settings do not have it')
  t.equal((await later.request('/v1/keys/clash', { method: 'DELETE' })).status, 200)
  t.equal((await later.request('/v1/keys/clash', { method: 'DELETE' })).status, 409)
  await waitFor('it is revoked', async () => (await client.request('/v1/auth/whoami', { key })).status === 401)
})

t.test('a session of MCP doesn\'t work for a new key of the same name', async t => {
  const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } } }
  const headers = { accept: 'application/json, text/event-stream' }
  const { body: { key: { key: first } } } = await make({ name: 'session', role: 'admin', tenant: 'acme' })
  const id = (await client.request('/mcp', { key: first, body: initialize, headers })).headers.get('mcp-session-id') ?? ''
  const ping = async (key: string): Promise<number> => (await client.request('/mcp', { key, body: { jsonrpc: '2.0', id: 2, method: 'ping' }, headers: { ...headers, 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' } })).status
  t.equal(await ping(first), 200)
  await revoke('session')
  const { body: { key: second } } = await make({ name: 'session', role: 'admin', tenant: 'other' })
  t.equal(await ping(second.key), 404)
})

t.test('open streams of jobs and of MCP end with their key, at every process; those of other keys go on', async t => {
  const beating = await service.startApi({ SSE_HEARTBEAT_SEC: '0.2' })
  const { body: { key: revoked } } = await make({ name: 'leaves', role: 'admin', tenant: 'acme' })
  const { body: { key: over } } = await make({ name: 'expires', role: 'admin', tenant: 'acme', expires_in_sec: 3_600 })
  const { body: { job: { id } } } = await client.request<{ job: { id: string } }>('/v1/jobs', {
    body: { type: 'agentcli.echo', delay_ms: 600_000 }, key: revoked.key
  })
  const paths = [`/v1/jobs/${id}/stream`, '/mcp']
  const open = async (key: string): Promise<EventReader[]> => await Promise.all(paths.map(async path => {
    const headers = { 'mcp-protocol-version': '2025-11-25' }
    const reader = await openReader(t, beating.address + path, { key, headers })
    t.equal(reader.status, 200, path)
    return reader
  }))
  const [staying, ofRevoked, ofOver] = [await open(testKeys.admin), await open(revoked.key), await open(over.key)]
  await revoke('leaves')
  for (const reader of ofRevoked) await reader.ended()
  t.notOk(ofOver.some(reader => reader.isEnded()))
  for (const record of await redis.keys('*key*')) if (await redis.ttl(record) > 60) await redis.pexpire(record, 1)
  for (const reader of ofOver) {
    await reader.ended()
    t.equal(reader.comments.at(-1), ': the key or token of this stream opens nothing any more')
  }
  t.notOk(staying.some(reader => reader.isEnded()))
})

async function withSession (name: string): Promise<{ key: string, files: string, names: () => Promise<string[]> }> {
  const { body: { key: { key } } } = await make({ name, role: 'admin', tenant: 'acme' })
  const { body: { session: { id } } } = await client.request<{ session: { id: string } }>('/v1/sessions', { key, body: {} })
  const files = `/v1/sessions/${id}/files`
  const names = async (): Promise<string[]> => {
    const { body: { entries } } = await client.request<{ entries: Array<{ name: string }> }>(files)
    return entries.map(entry => entry.name)
  }
  return { key, files: other.address + files, names }
}

for (const [path, left] of [['/x', []], ['?archive=tar', ['before']]] as const) {
  t.test(`PUT of files${path} that goes on when its key is revoked ends, and writes no more`, async t => {
    const { key, files, names } = await withSession('uploads')
    const first = writeHeader({ name: Buffer.from('before'), size: 0, mode: 0o644, mtime: new Date(0), type: '0' })
    const body = new ReadableStream<Uint8Array>({ start (controller) { controller.enqueue(first) } })
    const put = fetch(files + path, { method: 'PUT', headers: { 'x-api-key': key }, body, duplex: 'half' })
    await waitFor('what came is there', async () => String(await names()) === String(left))
    await revoke('uploads')
    t.equal((await put).status, 401)
    t.same(await names(), left)
  })
}

for (const path of ['/x', '?archive=tar']) {
  t.test(`GET of files${path} that goes on when its key is revoked breaks off`, async t => {
    const { key, files } = await withSession('downloads')
    const headers = { 'x-api-key': key }
    const bytes = 67_108_864
    t.equal((await fetch(`${files}/x`, { method: 'PUT', headers, body: Buffer.alloc(bytes) })).status, 201)
    const got = await fetch(files + path, { headers })
    t.equal(got.status, 200)
    await revoke('downloads')
    const requestId = String(got.headers.get('x-request-id'))
    await waitFor('the process ends it', async () => (await other.output()).split('\n').some(line => line.includes(requestId) && line.includes('AbortError')))
    await t.rejects(got.arrayBuffer(), 'nobody gets the rest')
  })
}

t.test('a ticket and a session of the dashboard end with the key', async t => {
  const { body: { key: { key } } } = await make({ name: 'visitor', role: 'admin' })
  const { job_id: id } = await client.call('echo')
  const { body: { token } } = await client.request<{ token: string }>('/v1/auth/sse-token', { key, body: {} })
  const cookie = await logIn(service.api.address, key)
  const statuses = async (): Promise<number[]> => [
    (await elsewhere.request('/dashboard/api/queues', { key: null, headers: { cookie } })).status,
    (await elsewhere.request(`/v1/jobs/${String(id)}/stream?stream_token=${token}`, { key: null })).status
  ]
  t.same(await statuses(), [200, 200])
  await revoke('visitor')
  await waitFor('both have ended', async () => String(await statuses()) === '401,401')
  await make({ name: 'visitor', role: 'admin' })
  t.same(await statuses(), [401, 401], 'also where another key has the name')
})
