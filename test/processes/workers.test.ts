import t from 'tap'
import type { WorkerList } from '@toolyard/contract'
import { hostname } from 'node:os'
import { entries, programs } from '../e2e/tools.ts'
import { cancel, reach, submit } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { plainRedis } from '../support/connection.ts'
import { injectService } from '../support/injected.ts'
import { makeKeys, testKeys } from '../support/service.ts'

const { keys, API_KEYS_JSON } = makeKeys({ read: {}, limited: { role: 'read', queue_allowlist: ['allowed'] }, acme: { tenant: 'acme' } })
const service = await injectService(t, {
  files: programs,
  tools: entries,
  env: {
    WORKER_CONCURRENCY: '3',
    API_KEYS_JSON
  }
})
const { client } = service
const redis = plainRedis(t, service.redis)
const read = async (key: string = testKeys.admin): Promise<WorkerList> => (await client.request<WorkerList>('/v1/workers', { key })).body

t.test('an operator sees each worker: where it is, what it serves and runs, since when, and how loaded its machine is', async t => {
  const { id } = await submit(client, { type: 'agentcli.nap', input: { ms: 15_000 } })
  const list = await waitFor('the job shows', async () => {
    const list = await read()
    return list.workers[0]?.places?.used === 1 && list
  })
  t.match(list, {
    ok: true,
    count: 1,
    workers: [{
      host: hostname(),
      version: /^\d+\.\d+\.\d+/,
      queues: ['*'],
      places: { used: 1, per_queue: 3 },
      sandbox: { level: String, missing: Array },
      load: { average: Number, processors: Number, memory_bytes: Number },
      started_at: /Z$/,
      last_seen_at: /Z$/
    }]
  })
  const [worker] = list.workers
  t.equal(worker?.places?.total, 3 * await redis.scard('toolyard:queues'))
  t.ok(Date.parse(worker?.started_at ?? '') <= Date.parse(worker?.last_seen_at ?? ''))
  t.equal((await reach(client, id, 'running')).worker, worker?.id, 'a job names its worker so')
  await cancel(client, id)
  t.match(await waitFor('the place is free', async () => {
    const now = await read(testKeys.read)
    return now.workers[0]?.places?.used === 0 && now
  }), { count: 1 })
})

t.test('a tenant sees no worker; a key that is bound to queues sees no names of others', async t => {
  t.match(await client.request('/v1/workers', { key: keys.acme }), { status: 403, body: { error: { code: 'FORBIDDEN' } } })
  const bound = await service.startWorker({ WORKER_QUEUES: 'allowed,secret' })
  const list = await waitFor('two workers', async () => {
    const list = await read(testKeys.limited)
    return list.count === 2 && list
  })
  t.same(list.workers.map(({ queues }) => queues).sort(), [['*'], ['allowed']])
  const [lost] = list.workers.filter(({ queues }) => queues.includes('allowed'))
  await bound.stop('SIGKILL')
  t.match(await waitFor('a dead worker disappears', async () => {
    const list = await read()
    return list.count === 1 && list
  }), { workers: [{ queues: ['*'] }], gone: [{ id: lost?.id, host: hostname(), how: 'lost', queues: ['allowed'], last_seen_at: /Z$/ }] })
})

t.test('a worker of an older release is shown with the fields that it reports', async t => {
  const old = { id: 'old', startedAt: '2026-01-01T00:00:00.000Z', queues: ['*'], sandbox: { level: 'full', missing: [] }, tools: 'x' }
  await redis.hset('toolyard:{workers}:records', 'old', JSON.stringify(old))
  const [seconds] = await redis.time()
  await redis.zadd('toolyard:{workers}:seen', Number(seconds) * 1_000 + 60_000, 'old')
  const { workers } = await read()
  t.match(workers.find(({ id }) => id === 'old'), { host: null, version: null, places: null, load: null, started_at: old.startedAt })
  await redis.zrem('toolyard:{workers}:seen', 'old')
  await redis.hdel('toolyard:{workers}:records', 'old')
})

t.test('a worker that stops is not lost, and the list keeps what it was; of those that went away, the last hundred are kept for 7 days', async t => {
  const { gone: before } = await read()
  const other = await service.startWorker({ WORKER_QUEUES: 'allowed' })
  await waitFor('it serves', async () => (await read()).count === 2)
  // The other worker serves the queue too, and may take a call first.
  const working = await waitFor('its record says that it ran a call', async () => {
    const found = (await read()).workers.find(({ queues, ran }) => queues.includes('allowed') && (ran ?? 0) > 0)
    if (found === undefined) await reach(client, (await submit(client, { type: 'agentcli.echo', queue: 'allowed' })).id, 'succeeded')
    return found
  })
  await other.stop('SIGTERM')
  const left = await waitFor('it has left', async () => {
    const list = await read()
    return list.count === 1 && list
  })
  t.match(left, { gone: [{ host: hostname(), how: 'left', queues: ['allowed'], version: /^\d/ }, ...before] })
  t.ok((left.gone[0]?.ran ?? 0) >= (working.ran ?? 1), 'the list keeps how many calls it ran')
  const now = Number((await redis.time())[0]) * 1_000
  const entries = [...Array.from({ length: 150 }, (_, place) => [`dead-${place}`, now - 300_000 + place] as const), ['older', now - 8 * 86_400_000] as const]
  for (const [id, seen] of entries) {
    await redis.hset('toolyard:{workers}:records', id, JSON.stringify({ id, startedAt: '', queues: [], sandbox: { level: 'full', missing: [] }, tools: '' }))
    await redis.zadd('toolyard:{workers}:seen', seen, id)
  }
  await waitFor('a worker has reported', async () => await redis.zcard('toolyard:{workers}:seen') === 101)
  t.equal(await redis.hlen('toolyard:{workers}:records'), 102, 'one is alive, one has left')
  const { gone, count } = await read()
  t.equal(count, 1)
  t.equal(gone.length, 100)
  t.equal(gone.find(({ how, id }) => how === 'lost' && id.startsWith('dead'))?.id, 'dead-149', 'the latest first')
})
