import { Redis } from 'ioredis'
import t from 'tap'
import type { Answer } from '../support/client.ts'
import { createService, testKeys } from '../support/service.ts'
import { entries, programs } from '../e2e/tools.ts'
import { list, post, reach } from './submission.ts'

const service = await createService(t, { files: programs, tools: entries, env: { MAX_QUEUES: '4' } })
const { client } = service
const redis = new Redis(service.redis.socket)
t.teardown(() => { redis.disconnect() })

const withKey = (key: string): { headers: Record<string, string> } => ({ headers: { 'idempotency-key': key } })
const type = 'agentcli.echo'

t.test('RC23 the same key and request give the same job, also when fields are in another order or have their defaults', async t => {
  const first = await post(client, { type, input: { a: 1, b: { c: 2, d: 3 } } }, withKey('same'))
  t.equal(first.status, 201)
  await reach(client, first.body.job.id, 'succeeded')
  const again = await post(client, { input: { b: { d: 3, c: 2 }, a: 1 }, priority: 5, type }, withKey('same'))
  t.equal(again.status, 200)
  t.equal(again.body.idempotent, true)
  t.equal(again.body.job.id, first.body.job.id)
  t.same(again.body.job.result, { a: 1, b: { c: 2, d: 3 } })
})

t.test('RC23 the same key with another request is a conflict', async t => {
  await post(client, { type, input: { a: 1 } }, withKey('other'))
  for (const body of [{ type, input: { a: 2 } }, { type, input: { a: 1 }, queue: 'elsewhere' }, { type, input: { a: 1 }, tags: ['x'] }]) {
    const answer = await post(client, body, withKey('other'))
    t.equal(answer.status, 409)
    t.same(answer.body, { ok: false, error: { code: 'IDEMPOTENCY_CONFLICT', message: 'Idempotency-Key reused with different request' }, request_id: answer.headers.get('x-request-id') })
  }
  const batch = await client.request('/v1/agent-tools/invoke-batch', { ...withKey('other'), body: { calls: [{ call_id: 'a', name: 'echo' }] } })
  t.equal(batch.status, 409, 'a batch is another request, too')
})

t.test('RC23 the same key with one other item of a long list is a conflict, wherever that stands', async t => {
  const items = (changed: number): number[] => Array.from({ length: 3_000 }, (_, at) => at === changed ? -1 : at)
  const send = async (changed: number): Promise<number> => (await post(client, { type, input: { list: items(changed) } }, withKey('long-list'))).status
  t.equal(await send(3_000), 201)
  t.equal(await send(3_000), 200)
  for (const changed of [0, 1_023, 1_024, 1_025, 2_048, 2_999]) t.equal(await send(changed), 409, `item ${changed}`)
})

t.test('RC23 a key belongs to the API key that sent it', async t => {
  const body = { type, queue: 'allowed' }
  const mine = await post(client, body, withKey('shared'))
  const theirs = await post(client, body, { ...withKey('shared'), key: testKeys.limited })
  t.equal(theirs.status, 201)
  t.not(theirs.body.job.id, mine.body.job.id)
})

t.test('RC23 a request that made no job does not bind its key', async t => {
  t.equal((await post(client, { type: 'no.such' }, withKey('typo'))).status, 400)
  t.equal((await post(client, { type }, withKey('typo'))).status, 201)
})

t.test('an invalid key is refused', async t => {
  for (const key of ['', 'with space', 'x'.repeat(256), 'ü']) {
    const answer = await post(client, { type }, withKey(key))
    t.equal(answer.status, 400, key)
    t.match(answer.body, { error: { message: /^'Idempotency-Key' must be/ } })
  }
})

t.test('a key is forgotten after 24 hours', async t => {
  await post(client, { type }, withKey('kept'))
  for (const name of await redis.keys('toolyard:once:*')) {
    const ttl = await redis.ttl(name)
    t.ok(ttl > 86_000 && ttl <= 86_400, `${ttl} s`)
  }
})

t.test('RC23 a batch that is repeated has the same answers, in both modes, and runs nothing again', async t => {
  const calls = [
    { call_id: 'a', name: 'echo', arguments: { n: 1 } }, { call_id: 'b', name: 'no_such' }, { call_id: 'c', name: 'fail', arguments: { stderr: 'no' } }
  ]
  const send = async (rest: object): Promise<Record<string, unknown>> => (
    (await client.request('/v1/agent-tools/invoke-batch', { ...withKey('batch'), body: { calls, queue: 'batches', ...rest } })).body
  )
  const first = await send({})
  t.match(first, { results: [{ output: { n: 1 } }, { error: { code: 'UNKNOWN_TOOL' } }, { error: { code: 'TOOL_FAILED', message: 'no' } }] })
  t.same(await send({}), first)
  t.same(await send({ wait_ms: 60_000 }), first, 'how long a caller waits makes no other batch')
  const { results } = await send({ mode: 'async' }) as { results: Array<{ job_id?: string }> }
  t.same((await list(client, '?queue=batches')).jobs.map(job => job.id).sort(), [results[0]?.job_id, results[2]?.job_id].sort())
  t.equal((await client.request('/v1/agent-tools/invoke-batch', { ...withKey('batch'), body: { calls: calls.slice(1), queue: 'batches' } })).status, 409)
})

t.test('RC23 a batch that is repeated when a job of it is no longer kept is a conflict that names the job, in both modes', async t => {
  const body = { calls: [{ call_id: 'a', name: 'echo' }, { call_id: 'b', name: 'echo' }, { call_id: 'c', name: 'no_such' }], queue: 'batches' }
  const send = async (mode: string): Promise<Answer<{ results: Array<{ job_id: string }> }>> => await client.request('/v1/agent-tools/invoke-batch', { ...withKey('old'), body: { ...body, mode } })
  t.equal((await send('sync')).status, 200)
  const id = (await send('async')).body.results[1]?.job_id ?? ''
  await redis.del(`toolyard:{batches}:${id}`)
  await redis.zrem('toolyard:{batches}:completed', id)
  for (const mode of ['sync', 'async']) {
    const answer = await send(mode)
    t.equal(answer.status, 409, mode)
    t.match(answer.body, { ok: false, error: { code: 'CONFLICT', message: new RegExp(id), details: { job_id: id } } })
  }
})

t.test('RC23 a batch that is repeated while it runs waits for the same jobs', async t => {
  const body = { calls: [{ call_id: 'a', name: 'nap', arguments: { ms: 700 } }], queue: 'napping' }
  const answers = await Promise.all([1, 2].map(() => client.request('/v1/agent-tools/invoke-batch', { ...withKey('nap'), body })))
  for (const answer of answers) t.match(answer.body, { results: [{ ok: true, output: { slept: 700 } }] })
  t.equal((await list(client, '?queue=napping')).count, 1)
})

t.test('a job that a limit refused does not bind its key', async t => {
  const refused = await post(client, { type, queue: 'one-too-many' }, withKey('refused'))
  t.equal(refused.status, 429)
  t.match(refused.body, { ok: false, error: { code: 'RATE_LIMITED', message: /'one-too-many'.*MAX_QUEUES/ } })
  t.equal((await post(client, { type }, withKey('refused'))).status, 201)
})

void t.test('RC23 a batch that was partly refused is tried again by its repeat, which keeps the jobs of the other part', async t => {
  const { client } = await createService(t, { files: programs, tools: entries, workers: 0, env: { MAX_QUEUE_DEPTH: '2' } })
  const body = { calls: ['echo', 'echo', 'echo', 'no_such'].map((name, index) => ({ call_id: `c${index}`, name })), mode: 'async' }
  const send = async (): Promise<Answer<{ results: Array<{ job_id?: string }> }>> => await client.request('/v1/agent-tools/invoke-batch', { ...withKey('partly'), body })
  const ids = ({ body: { results } }: Awaited<ReturnType<typeof send>>): Array<string | undefined> => results.map(each => each.job_id)
  const first = await send()
  t.match(first.body, { results: [{ ok: true }, { ok: true }, { error: { code: 'QUEUE_FULL' } }, { error: { code: 'UNKNOWN_TOOL' } }] })
  const refused = await send()
  t.equal(refused.headers.get('retry-after'), '1')
  t.same(refused.body, first.body, 'while it is full, nothing is made')
  for (const id of ids(first).slice(0, 2)) await client.request(`/v1/jobs/${id}/cancel`, { method: 'POST' })
  const repeats = await Promise.all([1, 2, 3].map(send))
  const made = ids(await send())
  t.same(made.slice(0, 2), ids(first).slice(0, 2))
  t.match(made[2], /^[0-9a-f-]{36}$/)
  // Those that come together may find no room beside each other.
  for (const repeat of repeats) t.ok([made[2], undefined].includes(ids(repeat)[2]))
  t.equal((await list(client, '')).count, 3, 'they made one job')
})

void t.test('RC23 a job or a tool that a full queue refused is tried again by its repeat', async t => {
  const { client } = await createService(t, { files: programs, tools: entries, workers: 0, env: { MAX_QUEUE_DEPTH: '1' } })
  const full = await post(client, { type })
  const tool = async (): Promise<Answer<{ job_id?: string }>> => await client.request('/v1/tools/echo?wait_ms=100', { ...withKey('tool'), body: {} })
  for (let count = 0; count < 2; count++) t.match([await post(client, { type }, withKey('job')), await tool()], [{ status: 429 }, { status: 429 }])
  await client.request(`/v1/jobs/${full.body.job.id}/cancel`, { method: 'POST' })
  const job = await post(client, { type }, withKey('job'))
  t.equal(job.status, 201)
  await client.request(`/v1/jobs/${job.body.job.id}/cancel`, { method: 'POST' })
  const answer = await tool()
  t.equal(answer.status, 202)
  t.equal((await tool()).body.job_id, answer.body.job_id)
})

void t.test('RC23 requests that a limit refuses leave nothing large behind, however many come at once with one key', async t => {
  const service = await createService(t, { files: programs, tools: entries, workers: 0, env: { MAX_JOBS_PER_KEY: '1' } })
  const redis = new Redis(service.redis.socket)
  t.teardown(() => { redis.disconnect() })
  await post(service.client, { type })
  const body = { calls: [{ call_id: 'a', name: 'echo', arguments: { pad: 'x'.repeat(300_000) } }], mode: 'async' }
  const send = async (key: string): Promise<Answer> => await service.client.request('/v1/agent-tools/invoke-batch', { ...withKey(key), body })
  let found = 0
  for (let at = 0; found < 3; at++) {
    for (const answer of await Promise.all([1, 2, 3].map(async () => await send(`crowd-${at}`)))) {
      t.match(answer.body, { results: [{ ok: false, error: { code: 'QUEUE_FULL' } }] })
    }
    found = (await redis.keys('toolyard:once:*')).length
  }
  for (const key of await redis.keys('toolyard:once:*')) t.ok(await redis.hstrlen(key, 'text') < 1_000, key)
  const [job] = (await list(service.client)).jobs
  await service.client.request(`/v1/jobs/${job?.id ?? ''}/cancel`, { method: 'POST' })
  const ids = await Promise.all([1, 2].map(async () => (await send('crowd-0')).body as { results: Array<{ job_id: string }> }))
  t.ok(ids[0]?.results[0]?.job_id)
  t.same(ids[0], ids[1], 'once there is room, repeats make one job')
})
