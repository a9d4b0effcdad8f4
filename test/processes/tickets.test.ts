import type { SseTokenResponse } from '@toolyard/contract'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { createService } from '../support/service.ts'
import { openReader } from '../streams/event-reader.ts'
import { chatterEntry, chatterFiles } from '../streams/tools.ts'
import { plainRedis } from '../support/connection.ts'

const keys = {
  admin: 'test-admin-key-0123456789', read: 'test-read-key-0123456789', limited: 'test-limited-key-0123456789', streamless: 'test-streamless-key-0123456789'
}
const keysJson = (readKey: string): string => JSON.stringify([
  { name: 'admin', key: keys.admin, role: 'admin' },
  { name: 'reader', key: readKey, role: 'read' },
  { name: 'limited', key: keys.limited, role: 'read', queue_allowlist: ['allowed'] },
  { name: 'streamless', key: keys.streamless, role: 'admin', sse: false }
])
const service = await createService(t, { files: chatterFiles, tools: [chatterEntry], env: { API_KEYS_JSON: keysJson(keys.read), SSE_TOKEN_TTL_SEC: '30' } })
const { client } = service
const redis = plainRedis(t, service.redis)

const submit = async (): Promise<string> => {
  const { results: [result] } = await client.batch([{ call_id: 'c', name: 'chatter', arguments: { lines: 1 } }], { mode: 'async' })
  return result?.job_id ?? ''
}
const ticketFor = async (body?: object, key: string = keys.read): Promise<SseTokenResponse> => {
  const answer = await client.request<SseTokenResponse>('/v1/auth/sse-token', { method: 'POST', key, ...(body === undefined ? {} : { body }) })
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.body
}
const streamPath = (id: string, token: string): string => `/v1/jobs/${id}/stream?stream_token=${token}`
const status = async (path: string, key: string | null = null): Promise<number> => (await client.request(path, { key })).status

t.test('RC28 a read key gets a ticket, which opens streams on every API process', async t => {
  const ticket = await ticketFor()
  t.match(ticket, { ok: true, token: /^[0-9a-f]{48}$/, token_param: 'stream_token', ttl_sec: 30, job_id: null })
  const left = Date.parse(ticket.expires_at) - Date.now()
  t.ok(left > 20_000 && left <= 30_000, `${left} ms`)
  const other = await service.startApi()
  const id = await submit()
  for (const address of [service.api.address, other.address, other.address]) {
    const reader = await openReader(t, address + streamPath(id, ticket.token))
    t.equal(reader.status, 200, 'also more than once: browsers connect again')
    await reader.ended()
    t.same(reader.lines(), ['line 0'])
  }
  for (const { output } of [service.api, other]) t.notMatch(await output(), new RegExp(ticket.token), 'no log has the token')
})

t.test('RC28 a ticket for one job opens no other', async t => {
  const [id, other] = [await submit(), await submit()]
  const ticket = await ticketFor({ job_id: id })
  t.equal(ticket.job_id, id)
  await (await openReader(t, service.api.address + streamPath(id, ticket.token))).ended()
  const refused = await client.request(streamPath(other, ticket.token), { key: null })
  t.equal(refused.status, 403)
  t.match(refused.body, { ok: false, error: { code: 'FORBIDDEN' } })
})

t.test('RC28 a ticket is valid only for streams', async t => {
  const id = await submit()
  const { token } = await ticketFor()
  for (const path of ['/v1/agent-tools', `/v1/jobs/${id}`, `/v1/jobs/${id}/logs`]) t.equal(await status(`${path}?stream_token=${token}`), 401, path)
  const batch = await client.request(`/v1/agent-tools/invoke-batch?stream_token=${token}`, {
    key: null, headers: { accept: 'text/event-stream' }, body: { calls: [{ call_id: 'a', name: 'chatter' }] }
  })
  t.equal(batch.status, 401)
  t.equal((await client.request(`/v1/auth/sse-token?stream_token=${token}`, { method: 'POST', key: null })).status, 401)
  t.equal(await status(streamPath(id, token), 'no-such-key'), 401, 'a bad key is not made good by a ticket')
})

t.test('RC27, fault 39 keys are not taken from the address, nor tokens that were never issued', async t => {
  const id = await submit()
  t.equal(await status(`/v1/jobs/${id}/stream?api_key=${keys.read}`), 401)
  for (const token of ['', 'x', '0'.repeat(48), `${'0'.repeat(48)}&stream_token=${'1'.repeat(48)}`]) t.equal(await status(streamPath(id, token)), 401, token)
})

t.test('fault 37 a ticket opens only what its key may see', async t => {
  const id = await submit()
  const { token } = await ticketFor({}, keys.limited)
  t.equal(await status(streamPath(id, token)), 404)
})

t.test('fault 38 a ticket ends with its time, and with the key that it was issued to', async t => {
  const id = await submit()
  const { token } = await ticketFor()
  const rotated = await service.startApi({ API_KEYS_JSON: keysJson('another-read-key-0123456789') })
  t.equal((await fetch(rotated.address + streamPath(id, token))).status, 401)
  const [key = ''] = await waitFor('tickets are there', async () => await redis.keys('toolyard:ticket:*'))
  t.ok(await redis.ttl(key) > 0)
  for (const ticket of await redis.keys('toolyard:ticket:*')) {
    t.notMatch(ticket + await redis.get(ticket), token, 'Redis never sees it')
    await redis.del(ticket)
  }
  t.equal(await status(streamPath(id, token)), 401)
})

t.test('RC27 a key without streams gets neither stream nor ticket, whether or not the job exists', async t => {
  const id = await submit()
  const message = 'This API key is not allowed to access SSE streams.'
  const paths = [`/v1/jobs/${id}/stream`, '/v1/jobs/nonsense/stream']
  const answers = [
    ...await Promise.all(paths.map(path => client.request(path, { key: keys.streamless }))),
    await client.request('/v1/auth/sse-token', { method: 'POST', key: keys.streamless }),
    await client.request('/v1/agent-tools/invoke-batch', { key: keys.streamless, headers: { accept: 'text/event-stream' }, body: { calls: [{ call_id: 'a', name: 'chatter' }] } })
  ]
  for (const { status, body } of answers) {
    t.equal(status, 403)
    t.match(body, { ok: false, error: { code: 'FORBIDDEN', message } })
  }
  t.equal(await status(`/v1/jobs/${id}`, keys.streamless), 200)
})

t.test('RC28 a body that isn\'t a ticket request is a 400', async t => {
  const message = "'job_id' must match ^[a-z0-9._:-]{1,120}$"
  for (const id of ['', 'A', 'a b', 'x'.repeat(121), 1, {}, []]) {
    const answer = await client.request('/v1/auth/sse-token', { body: { job_id: id } })
    t.equal(answer.status, 400)
    t.same(answer.body, { ok: false, error: { code: 'VALIDATION_ERROR', message, details: {} }, request_id: answer.headers.get('x-request-id') })
  }
  for (const body of [[], '"text"', { job: 'x' }]) t.equal((await client.request('/v1/auth/sse-token', { body })).status, 400)
  t.equal((await ticketFor({ job_id: null })).job_id, null)
})
