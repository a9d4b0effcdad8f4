import { readdir, readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import type { ToolList } from '@toolyard/contract'
import type { Redis } from '@toolyard/store'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { listening } from '../support/listening.ts'
import { createService } from '../support/service.ts'

const secret = 'tok_4f9a"77c1/e2e+secret=='
const login = 'agent:pass-word-of-the-agent'
const secretForms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), Buffer.from(secret).toString('base64'), login, Buffer.from(login).toString('base64')]

/** A request to the API under test, and its answer. */
interface Asked { method: string, url: string, headers: IncomingMessage['headers'], body: string }
const asked: Asked[] = []
const closed: string[] = []

async function answer (request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const url = request.url ?? ''
  asked.push({ method: request.method ?? '', url, headers: request.headers, body: Buffer.concat(chunks).toString() })
  response.on('close', () => { if (!response.writableFinished) closed.push(url) })
  const json = (status: number, value: unknown): void => { response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value)) }
  if (url.startsWith('/hang')) return
  if (url === '/empty') response.writeHead(204).end()
  else if (url === '/missing') response.writeHead(404, { 'content-type': 'text/plain' }).end('no such thing')
  else if (url === '/busy') response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '7' }).end('{"error":"slow down"}')
  else if (url === '/image') response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 0xff]))
  else if (url.startsWith('/echo')) json(url.includes('fail') ? 401 : 200, { headers: request.headers, url })
  else json(200, { method: request.method, url, body: Buffer.concat(chunks).toString() })
}

/** All keys of a Redis, and what they hold. */
async function everythingIn (redis: Redis): Promise<string> {
  const reads: Record<string, (key: string) => Promise<unknown>> = {
    string: key => redis.get(key),
    hash: key => redis.hgetall(key),
    list: key => redis.lrange(key, '0', '-1'),
    set: key => redis.smembers(key),
    zset: key => redis.zrange(key, '0', '-1'),
    stream: key => redis.xrange(key, '-', '+')
  }
  const keys = await redis.keys('*')
  const values = await Promise.all(keys.map(async key => await reads[String(await redis.type(key))]?.(key)))
  return [...keys, ...values.map(value => JSON.stringify(value)), ...values.map(value => String(value)), ...values.flatMap(value => Object.values(Object(value) as object).map(String))].join('\n')
}

const server = createServer((request, response) => { void answer(request, response) })
const origin = `http://127.0.0.1:${await listening(t, server)}`
const anything = { type: 'object' }
const get = (name: string, path: string, rest: object = {}): object => ({ name, schema: anything, http: { method: 'GET', url: `${origin}${path}`, ...rest } })
const credentials = { Authorization: { setting: 'WEATHER_TOKEN', prefix: 'Bearer ' }, 'X-Login': { setting: 'WEATHER_LOGIN', prefix: 'Basic ', base64: true } }
const tools = [
  {
    name: 'get_weather',
    description: 'Tells the weather of a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' }, units: { type: 'array', items: { type: 'string' } }, trace_id: { type: 'string' } }, required: ['city'], additionalProperties: false },
    http: { method: 'GET', url: `${origin}/v1/{city}/weather`, query: ['units'], headers: { 'X-Trace': '{trace_id}', ...credentials } }
  },
  { name: 'list_repositories', schema: { type: 'object', properties: { sort: { type: 'string', default: 'name' } } }, http: { method: 'GET', url: `${origin}/repositories` } },
  { name: 'make_note', schema: anything, http: { method: 'POST', url: `${origin}/notes/{id}`, query: [{ name: 'key', setting: 'WEATHER_TOKEN' }] } },
  get('empty', '/empty'), get('missing', '/missing'), get('busy', '/busy'), get('image', '/image'),
  get('echo', '/echo', { headers: credentials, query: [{ name: 'key', setting: 'WEATHER_TOKEN' }] }),
  get('echo_fail', '/echo/fail', { headers: credentials }),
  { ...get('hang', '/hang'), timeoutSec: 1 },
  { ...get('hang_long', '/hang/long'), timeoutSec: 60 },
  get('unset', '/unset', { headers: { Authorization: { setting: 'NOBODY_HAS_THIS' } } }),
  { name: 'inside', schema: anything, http: { method: 'GET', url: `http://localhost:${new URL(origin).port}/inside` } }
]
const service = await createService(t, { tools, env: { WEATHER_TOKEN: secret, WEATHER_LOGIN: login, HTTP_PRIVATE_HOSTS: '127.0.0.1' } })
const { client } = service

t.test('an agent calls an HTTP API through a manifest entry, which puts each argument in its place', async t => {
  const { tools } = (await client.request<ToolList>('/v1/agent-tools')).body
  t.match(tools.find(tool => tool.function.name === 'get_weather'), { function: { description: 'Tells the weather of a city.', parameters: { required: ['city'] } } })
  const { output } = await client.call('get_weather', { city: 'São Paulo/..x?', units: ['c', 'f'], trace_id: 'abc' })
  t.match(output, { method: 'GET', url: '/v1/S%C3%A3o%20Paulo%2F..x%3F/weather?units=c&units=f' })
  const [request] = asked.splice(0)
  t.match(request?.headers, { 'x-trace': 'abc', authorization: `Bearer ${secret}`, 'x-login': `Basic ${Buffer.from(login).toString('base64')}`, 'accept-encoding': 'identity' })
  const note = await client.call('make_note', { id: 7, text: 'hello', tags: ['a'] })
  t.match(note.output, { method: 'POST', body: '{"text":"hello","tags":["a"]}' })
  t.equal(asked.splice(0)[0]?.url, `/notes/7?key=${encodeURIComponent(secret)}`)
})

t.test('a call gets the defaults of the schema, and they are sent', async t => {
  asked.splice(0)
  await client.call('list_repositories')
  t.match(asked.splice(0), [{ url: '/repositories?sort=name' }])
})

t.test('an empty answer is {}, a status of an error is TOOL_FAILED with what the API said, and a binary one OUTPUT_INVALID', async t => {
  t.same((await client.call('empty')).output, {})
  t.match(await client.call('missing'), { ok: false, error: { code: 'TOOL_FAILED', message: 'the API answered 404 Not Found: no such thing', details: { status: 404 } } })
  t.match(await client.call('busy'), { error: { code: 'TOOL_FAILED', message: 'the API answered 429 Too Many Requests: {"error":"slow down"}', details: { status: 429, headers: { 'retry-after': '7' } } } })
  t.match(await client.call('image'), { error: { code: 'OUTPUT_INVALID', message: 'the answer is image/png, which is neither JSON nor text; in a session it would be the file output.bin' } })
})

t.test('arguments that change the destination, a missing secret and a private address are refused before anything is sent', async t => {
  asked.splice(0)
  for (const city of ['..', '.', '../admin', 'a/../b', '', 'a\r\nb']) t.match(await client.call('get_weather', { city }), { error: { code: 'INVALID_ARGUMENTS' } }, JSON.stringify(city))
  t.match(await client.call('get_weather', { city: 'x', trace_id: 'a\r\nHost: evil' }), { error: { code: 'INVALID_ARGUMENTS' } })
  t.match(await client.call('unset'), { error: { code: 'TOOL_UNAVAILABLE', message: /NOBODY_HAS_THIS/ } })
  t.match(await client.call('inside'), { error: { code: 'NOT_ALLOWED', message: /HTTP_PRIVATE_HOSTS/ } })
  t.strictSame(asked, [])
})

t.test('a timeout and a cancel close the connection', async t => {
  t.match(await client.call('hang'), { error: { code: 'TOOL_TIMEOUT', message: 'tool timed out' } })
  await waitFor('the connection of a timeout is closed', () => closed.includes('/hang'))
  const { job_id: id = '' } = await client.call('hang_long', {}, { mode: 'async' })
  await waitFor('the API is asked', () => asked.some(({ url }) => url === '/hang/long'))
  await client.request(`/v1/jobs/${id}/cancel`, { method: 'POST' })
  await waitFor('the connection of a cancel is closed', () => closed.includes('/hang/long'))
  t.pass('both connections are closed')
})

t.test('an HTTP tool has the permission network: a deployment that does not allow it neither lists nor runs it', async t => {
  const api = await service.startApi({ PERMISSIONS_ALLOWED: 'read_repo,write_files' })
  const request = async (path: string, body?: object): Promise<unknown> => await (await fetch(`${api.address}${path}`, {
    method: body === undefined ? 'GET' : 'POST', headers: { 'x-api-key': 'test-admin-key-0123456789', 'content-type': 'application/json' }, ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })).json()
  t.notMatch(JSON.stringify(await request('/v1/agent-tools')), 'get_weather')
  t.match(await request('/v1/agent-tools/invoke-batch', { calls: [{ call_id: '1', name: 'empty', arguments: {} }] }), { results: [{ error: { code: 'FORBIDDEN', details: { permissions: ['network'] } } }] })
})

t.test('secrets are in no answer, error, log, job or audit, even where the API sends them back', async t => {
  const answers = [await client.call('echo'), await client.call('echo_fail')]
  t.match(answers[0], { ok: true, output: { headers: { authorization: /REDACTED/ }, url: /REDACTED/ } })
  t.match(answers[1], { error: { code: 'TOOL_FAILED', message: /REDACTED/ } })
  t.ok(asked.some(({ headers }) => headers.authorization === `Bearer ${secret}`), 'they were sent')
  const stored = await everythingIn(await connectTo(t, service.redis))
  const audit = join(service.dir, 'audit')
  const audited = await waitFor('the audit has the last call', async () => {
    const lines = (await Promise.all((await readdir(audit)).map(file => readFile(join(audit, file), 'utf8')))).join('')
    return lines.includes('"echo_fail"') ? lines : undefined
  })
  t.match(audited, `"argv":["GET","${origin}/v1/{city}/weather"]`)
  t.match(audited, '"envKeys":["WEATHER_TOKEN"')
  const printed = (await Promise.all([service.api, ...service.workers].map(app => app.output()))).join('')
  t.match(printed, 'job succeeded')
  t.ok(stored.includes('echo_fail'), 'jobs are looked at')
  const all = [JSON.stringify(answers), stored, audited, printed].join('\n')
  t.strictSame(secretForms.filter(form => all.includes(form)), [])
})
