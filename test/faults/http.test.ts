import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { EntryLocks } from '@toolyard/store'
import { writeHeader } from '@toolyard/workspace'
import { entries, programs } from '../e2e/tools.ts'
import { connectTo } from '../support/connection.ts'
import { createService, testKeys } from '../support/service.ts'

const sessionsDir = mkdtempSync(join(tmpdir(), 'toolyard-sessions-'))
t.teardown(() => { rmSync(sessionsDir, { recursive: true }) })
const service = await createService(t, { files: programs, tools: entries, env: { WORKER_CONCURRENCY: '2', SESSIONS_DIR: sessionsDir } })
const { client } = service
const path = '/v1/agent-tools/invoke-batch'
const { hostname, port } = new URL(service.api.address)

/** Sends a text a byte at a time, for ever; resolves with what came back when the server has closed the connection. */
function trickle (head: string, byte: string): Promise<string> {
  return new Promise(resolve => {
    const socket = connect(Number(port), hostname)
    let reply = ''
    socket.write(head)
    const timer = setInterval(() => { if (socket.writable) socket.write(byte) }, 200)
    socket.on('data', chunk => { reply += chunk.toString() })
    socket.on('error', () => {})
    socket.on('close', () => {
      clearInterval(timer)
      resolve(reply)
    })
  })
}

t.setTimeout(300_000)

void t.test('fault 30 connections with endless headers or bodies are closed, and hold up nobody', async t => {
  const started = performance.now()
  const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${testKeys.admin}\r\n`
  const slow = [
    ...Array.from({ length: 50 }, () => trickle(head, 'x')),
    ...Array.from({ length: 50 }, () => trickle(`${head}content-type: application/json\r\ncontent-length: 1000000\r\n\r\n`, ' '))
  ]
  await delay(1_000)
  t.equal((await client.call('echo', { while: 'slow' })).ok, true)
  for (const reply of await Promise.all(slow)) t.match(reply, /^HTTP\/1\.1 408 [\s\S]*"message":"The request took too long to arrive"/)
  t.ok(performance.now() - started < 60_000)
})

void t.test('an upload that the service itself is slow to write is not too slow: its body is not waited for meanwhile', async t => {
  const id = await client.session()
  const put = async (where: string, body: Buffer): Promise<Response> => (
    await fetch(`${service.api.address}/v1/sessions/${id}/files${where}`, { method: 'PUT', headers: { 'x-api-key': testKeys.admin }, body })
  )
  t.equal((await put('/first', Buffer.from('a'))).status, 201)
  const { ino } = statSync(join(sessionsDir, id))
  const lock = await new EntryLocks(await connectTo(t, service.redis)).take(`${ino}/held`, new AbortController().signal)
  const header = (name: string, size: number): Buffer => writeHeader({ name: Buffer.from(name), size, mode: 0o644, mtime: new Date(), type: '0' })
  const large = Buffer.alloc(8_388_608, 'x')
  const answer = put('?archive=tar', Buffer.concat([header('held', 0), header('large', large.length), large, Buffer.alloc(1_024)]))
  // Longer than a client may keep silent.
  await delay(32_000)
  lock.release()
  const { status } = await answer
  t.equal(status, 200)
  t.equal(statSync(join(sessionsDir, id, 'large')).size, large.length)
})

void t.test('fault 31 depth, size, length and precision of a body are bounded', async t => {
  const call = (args: string): string => `{"calls":[{"call_id":"a","name":"echo","arguments":${args}}]}`
  const deep = (levels: number): string => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`
  t.match(await client.request(path, { body: call(deep(50_000)) }), { status: 400, body: { error: { message: 'Request body nests deeper than 100 levels' } } })
  t.equal((await client.request(path, { body: call(deep(50)) })).status, 200)
  t.equal((await client.request(path, { body: call(`{"a":"${'x'.repeat(1_100_000)}"}`) })).status, 413)
  t.equal((await client.request(path, { body: { calls: Array.from({ length: 21 }, (_, index) => ({ call_id: `c${index}`, name: 'echo' })) } })).status, 400)
  t.equal((await client.request(path, { body: { calls: Array.from({ length: 100_000 }, () => 0) } })).status, 400)
  t.same((await client.call('echo', { list: Array.from({ length: 50_000 }, () => 1) })).ok, true)
  const huge = 'Request body holds a number that is too large for any program to hold: send it as a text, in quotes'
  t.match(await client.request('/v1/job-types/agentcli.echo', { method: 'PATCH', body: '{"n":1e400}' }), { status: 400, body: { error: { code: 'VALIDATION_ERROR', message: huge } } })
  t.match((await client.request<{ results: Array<{ output: unknown }> }>(path, { body: call('{"n":9007199254740991,"x":0.1}') })).body.results[0], { output: { n: 9_007_199_254_740_991, x: 0.1 } })
})

void t.test('fault 32 __proto__ is refused; names like constructor are allowed', async t => {
  for (const body of ['{"__proto__":{"calls":[]}}', '{"calls":[{"call_id":"a","name":"echo","arguments":{"deep":[{"__proto__":{"x":1}}]}}]}', '{"calls":[{"call_id":"a","name":"echo","arguments":{"constructor":{"prototype":{"x":1}}}}]}']) {
    t.match(await client.request(path, { body }), { status: 400, body: { error: { code: 'VALIDATION_ERROR', message: 'Request body holds a key __proto__, or constructor with prototype in it, which nothing here takes' } } })
  }
  const names = { toString: 1, hasOwnProperty: 2, valueOf: null, then: 'x' }
  t.same((await client.call('echo', names)).output, names)
  for (const name of ['__proto__', 'constructor', 'toString']) {
    t.equal((await client.call(name)).error?.code, 'UNKNOWN_TOOL')
    t.equal((await client.request(`/v1/job-types/${name}`, { method: 'PATCH', body: { enabled: false } })).status, 404)
  }
  t.equal(({} as { x?: unknown }).x, undefined)
  t.same((await client.call('echo', {})).output, {})
})

void t.test('fault 33 bodies of other content types are refused', async t => {
  const body = '{"calls":[{"call_id":"a","name":"echo"}]}'
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/xml', 'application/jsonx', 'application/octet-stream']) {
    t.equal((await client.request(path, { body, headers: { 'content-type': type } })).status, 415, type)
  }
  t.equal((await client.request(path, { body, headers: { 'content-type': 'application/json; charset=utf-8' } })).status, 200)
  t.equal((await client.request(path, { body: Buffer.from(body).toString('base64'), headers: { 'content-encoding': 'gzip' } })).status, 400)
})

void t.test('fault 35 a key that floods its queue doesn\'t keep another key from being served', async t => {
  const flood = Array.from({ length: 20 }, async (_, round) => await client.batch(Array.from({ length: 20 }, (_, index) => ({ call_id: `f${round}-${index}`, name: 'nap', arguments: { ms: 100 } })), { mode: 'async', queue: 'flood' }))
  await Promise.all(flood)
  for (let round = 0; round < 5; round++) {
    const { results: [result] } = await client.batch([{ call_id: 'mine', name: 'echo', arguments: { round } }], { queue: 'allowed', wait_ms: 20_000 }, testKeys.limited)
    t.match(result, { ok: true, output: { round } })
  }
  const left = await client.request<{ count: number }>('/v1/jobs?queue=flood&status=queued&limit=1')
  t.equal(left.body.count, 1, 'the flood is not over')
})

void t.test('fault 40 without keys, other hosts and origins are refused; with keys, no other origin may read an answer', async t => {
  const open = await service.startApi({ API_AUTH_DISABLED: '1', API_KEYS_JSON: '', TRUST_PROXY: 'loopback' })
  const ask = async (headers: Record<string, string>): Promise<string> => await new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(open.address).port), '127.0.0.1', () => {
      socket.write(`GET /v1/agent-tools HTTP/1.1\r\n${Object.entries({ connection: 'close', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
    })
    let reply = ''
    socket.on('data', chunk => { reply += chunk.toString() })
    socket.on('error', reject)
    socket.on('close', () => { resolve(reply.slice(0, 'HTTP/1.1 200'.length)) })
  })
  const own = new URL(open.address).host
  t.equal(await ask({ host: own }), 'HTTP/1.1 200')
  t.equal(await ask({ host: `localhost:${new URL(open.address).port}` }), 'HTTP/1.1 200')
  t.equal(await ask({ host: own, origin: `http://${own}` }), 'HTTP/1.1 200')
  for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '10.0.0.1']) t.equal(await ask({ host }), 'HTTP/1.1 403', host)
  t.equal(await ask({ host: 'evil.example', 'x-forwarded-host': own }), 'HTTP/1.1 403', 'a page can send what a proxy would')
  t.equal(await ask({ host: own, 'x-forwarded-host': 'evil.example' }), 'HTTP/1.1 403')
  for (const origin of ['http://evil.example', 'null', 'http://localhost:1']) t.equal(await ask({ host: own, origin }), 'HTTP/1.1 403', origin)
  for (const site of ['cross-site', 'same-site', 'nonsense']) t.equal(await ask({ host: own, 'sec-fetch-site': site }), 'HTTP/1.1 403', `a page elsewhere, as a picture: ${site}`)
  for (const site of ['same-origin', 'none']) t.equal(await ask({ host: own, 'sec-fetch-site': site }), 'HTTP/1.1 200', site)
  const preflight = await client.request(path, { method: 'OPTIONS', key: null, headers: { origin: 'http://evil.example', 'access-control-request-headers': 'x-api-key' } })
  t.equal(preflight.headers.get('access-control-allow-origin'), null)
})
