import t from 'tap'
import type { ChangeList, Ready, WorkerList, WorkerView } from '@toolyard/contract'
import { entries, programs } from '../e2e/tools.ts'
import { reach, read as readJob, submit } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { plainRedis } from '../support/connection.ts'
import { injectService } from '../support/injected.ts'
import { freePort } from '../support/redis-process.ts'
import { makeKeys, testKeys } from '../support/service.ts'

const { keys, API_KEYS_JSON } = makeKeys({ read: {}, bound: { queue_allowlist: ['default'] }, acme: { tenant: 'acme' } })
const port = await freePort()
const service = await injectService(t, {
  files: programs,
  tools: entries,
  env: {
    METRICS_PORT: String(port),
    API_KEYS_JSON
  }
})
const { client } = service
const redis = plainRedis(t, service.redis)
const list = async (): Promise<WorkerList> => (await client.request<WorkerList>('/v1/workers')).body
const only = async (): Promise<WorkerView> => {
  const [worker] = (await list()).workers
  if (worker === undefined) throw new Error('no worker')
  return worker
}
type Answer = ReturnType<typeof client.request<{ worker: WorkerView }>>
const drain = async (id: string, drained: unknown, key: string = testKeys.admin): Answer => (
  await client.request<{ worker: WorkerView }>(`/v1/workers/${id}`, { method: 'PATCH', body: { drained }, key })
)
const reachState = async (state: string): Promise<WorkerView> => await waitFor(`it is ${state}`, async () => {
  const worker = await only()
  return worker.state === state && worker
})

t.test('a worker that is drained ends its calls and takes no other one, until it is resumed; the audit has both', async t => {
  const { id } = await only()
  const long = await submit(client, { type: 'agentcli.nap', input: { ms: 6_000 } })
  await reach(client, long.id, 'running')
  t.match(await drain(id, true), { status: 200, body: { ok: true, worker: { id, state: 'draining' } } })
  t.match(await client.request<Ready>('/ready'), { status: 200, body: { workers: { list: [{ id, state: 'draining' }] } } })
  // Its record says so once the worker has heard of it.
  await waitFor('it has heard', async () => (JSON.parse(await redis.hget('toolyard:{workers}:records', id) ?? '{}') as { heardDrain?: string }).heardDrain !== '')
  const next = await submit(client, { type: 'agentcli.echo' })
  t.equal((await readJob(client, long.id)).status, 'running')
  t.match(await reach(client, long.id, 'succeeded'), { worker: id })
  await reachState('drained')
  t.equal((await readJob(client, next.id)).status, 'queued', 'nobody takes it')
  t.match(await client.request('/v1/queues'), { body: { queues: [{ name: 'default', waiting: 1, workers: 0, places: 0 }] } })
  const own = await fetch(`http://127.0.0.1:${port}/ready`)
  t.equal(own.status, 503)
  t.match(await own.json(), { ok: false, checks: { drained: { ok: false, detail: 'the worker takes no jobs until it is resumed' } } })
  t.match(await drain(id, false), { status: 200, body: { worker: { state: 'working' } } })
  t.match(await reach(client, next.id, 'succeeded'), { worker: id })
  t.equal((await fetch(`http://127.0.0.1:${port}/ready`)).status, 200)
  t.match((await waitFor('the audit has both', async () => {
    const { body } = await client.request<ChangeList>('/v1/audit')
    return body.changes.length === 2 && body
  })).changes, [
    { key: 'admin', action: 'worker.drain', target: id, about: { drained: false } }, { action: 'worker.drain', target: id, about: { drained: true } }
  ])
})

t.test('an idle worker that is drained leaves the next job to another one', async t => {
  const { id } = await only()
  // It has just been resumed, and its record may still be that of a drained worker.
  t.match(await drain(id, true), { body: { worker: { state: 'draining' } } })
  await reachState('drained')
  const other = await service.startWorker({ METRICS_PORT: String(await freePort()) })
  await waitFor('two workers', async () => (await list()).count === 2)
  const jobs = await Promise.all(Array.from({ length: 10 }, async () => await submit(client, { type: 'agentcli.echo' })))
  for (const { id: job } of jobs) t.not((await reach(client, job, 'succeeded')).worker, id)
  await other.stop('SIGTERM')
  await drain(id, false)
  await reachState('working')
})

t.test('only an admin of the operator drains, who is bound to no queues; what is no worker, or an older one, says so', async t => {
  const { id } = await only()
  t.match(await drain(id, true, testKeys.read), { status: 403, body: { error: { code: 'FORBIDDEN' } } })
  t.match(await drain(id, true, keys.acme), { status: 403, body: { error: { code: 'FORBIDDEN' } } })
  t.match(await drain(id, true, keys.bound), { status: 403, body: { error: { message: "A key that is bound to queues can't drain a worker" } } })
  t.match(await drain('nobody', true), { status: 404, body: { error: { code: 'NOT_FOUND', message: 'No such worker is alive' } } })
  t.match(await drain(id, 'yes'), { status: 400, body: { error: { code: 'VALIDATION_ERROR', message: /drained/ } } })
  t.match(await client.request(`/v1/workers/${id}`, { method: 'PATCH', body: { drained: true, more: 1 } }), { status: 400, body: { error: { message: /more/ } } })
  const old = { id: 'old', startedAt: '2026-01-01T00:00:00.000Z', queues: ['*'], sandbox: { level: 'full', missing: [] }, tools: 'x' }
  await redis.hset('toolyard:{workers}:records', 'old', JSON.stringify(old))
  await redis.zadd('toolyard:{workers}:seen', Number((await redis.time())[0]) * 1_000 + 60_000, 'old')
  t.match(await drain('old', true), { status: 409, body: { error: { code: 'CONFLICT', message: /can't be drained/ } } })
  await redis.zrem('toolyard:{workers}:seen', 'old')
  t.equal((await only()).state, 'working')
})
