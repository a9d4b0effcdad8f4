import { Redis } from 'ioredis'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { reach, submit } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { plainRedis } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'
import { startProcesses, createService } from '../support/service.ts'
import { runsOf, stampEntries, stampFiles } from './stamp.ts'

const clock = `#!/bin/sh
sleep 0.2
echo "{\\"endedAt\\":$(date +%s%3N)}"
`
const tools = {
  files: { ...programs, ...stampFiles, 'tools/bin/clock': clock },
  tools: [...entries, ...stampEntries, { name: 'clock', schema: { type: 'object' }, command: ['./tools/bin/clock'] }]
}

t.setTimeout(300_000)
// Those that bound no time, and have a Redis of their own each.
t.jobs = 2

void t.test('fault 24 Redis is away at the start: 503 within 2 s, and both processes serve by themselves when it comes', async t => {
  const redis = await startTestRedis(t)
  await redis.stop()
  const service = await startProcesses(t, { REDIS_URL: redis.url }, { ...tools, workers: 0 })
  const worker = service.startWorker()
  t.equal((await service.client.request('/health')).status, 200)
  t.match((await service.client.request('/ready')).body, { ok: false, checks: { redis: { ok: false } } })
  const startedAt = performance.now()
  const answer = await service.client.request('/v1/agent-tools/invoke-batch', { body: { calls: [{ call_id: 'a', name: 'echo' }] } })
  t.equal(answer.status, 503)
  t.ok(performance.now() - startedAt < 2_000)
  await redis.start()
  await worker
  await waitFor('the API is ready', async () => (await service.client.request('/ready')).status === 200)
  t.equal((await service.client.call('echo')).ok, true)
})

void t.test('fault 26 the connection for events is killed all the time: every call is answered within 1.5 s of its end', async t => {
  const service = await createService(t, { ...tools, env: { WORKER_CONCURRENCY: '2' } })
  const redis = plainRedis(t, service.redis)
  const over = new AbortController()
  const killing = (async () => {
    for (; !over.signal.aborted; await delay(50)) await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
  })()
  await Promise.all(Array.from({ length: 20 }, async (_, index) => {
    await delay(index * 100)
    // The tool tells when it ended.
    const result = await service.client.call('clock', {}, { wait_ms: 50_000, queue: `q${index % 4}` })
    const late = Date.now() - (result.output as { endedAt: number }).endedAt
    t.equal(result.ok, true)
    t.ok(late < 1_500, `answered after ${late} ms`)
  }))
  over.abort()
  await killing
})

void t.test('fault 27 Redis is killed after it acknowledged 400 jobs: all of them are run', { buffered: true }, async t => {
  const redis = await startTestRedis(t, { aof: true })
  const service = await startProcesses(t, { REDIS_URL: redis.url }, { ...tools, workers: 0 })
  const ids: string[] = []
  for (let batch = 0; batch < 20; batch++) {
    const calls = Array.from({ length: 20 }, (_, index) => ({ call_id: `c${index}`, name: 'data_file_read', arguments: { path: 'README.md' } }))
    const { results } = await service.client.batch(calls, { mode: 'async' })
    ids.push(...results.map(({ job_id: id }) => id ?? ''))
  }
  process.kill(redis.pid(), 'SIGKILL')
  await redis.stop()
  await redis.start()
  await service.startWorker()
  t.equal(new Set(ids).size, 400)
  for (const id of ids) {
    const job = await reach(service.client, id, 'succeeded', 'failed')
    if (job.status !== 'succeeded') t.fail(`${id} ${job.error?.message}`)
  }
})

void t.test('fault 28 Redis is full: each call says so, nothing crashes or hangs; with room again everything works', { buffered: true }, async t => {
  const service = await createService(t, { ...tools })
  const redis = plainRedis(t, service.redis)
  t.equal((await service.client.call('echo')).ok, true)
  await redis.config('SET', 'maxmemory', '1mb')
  for (let round = 0; round < 3; round++) {
    const { results } = await service.client.batch(['a', 'b'].map(call => ({ call_id: call, name: 'echo' })), { wait_ms: 2_000 })
    for (const result of results) t.match(result, { ok: false, error: { code: 'QUEUE_FULL', message: /Redis/ } })
  }
  const submitted = await service.client.request('/v1/jobs', { body: { type: 'agentcli.echo', input: {} } })
  t.equal(submitted.status, 503, 'a job of its own is refused as unavailable, not as one too many')
  t.match(submitted.text, /UNAVAILABLE.*Redis is full/)
  t.equal((await service.client.request('/health')).status, 200)
  await redis.config('SET', 'maxmemory', '0')
  await waitFor('it serves again', async () => (await service.client.call('echo')).ok)
  for (const app of [service.api, ...service.workers]) t.equal(app.child.exitCode, null)
})

void t.test('fault 28 a call that ends while Redis is full is answered, and keeps its outcome', { buffered: true }, async t => {
  const service = await createService(t, tools)
  const redis = plainRedis(t, service.redis)
  const waiting = service.client.call('once', { mark: 'full', sec: '1' }, { wait_ms: 10_000 })
  await waitFor('it runs', () => runsOf(service).size === 1)
  await redis.config('SET', 'maxmemory', '1mb')
  t.match(await waiting, { ok: true, output: { done: true } })
  const { body: { jobs } } = await service.client.request<{ jobs: Array<{ status: string }> }>('/v1/jobs')
  t.match(jobs, [{ status: 'succeeded' }])
})

/** From now on Redis can't save its data, and would refuse writes. */
async function failSaves (redis: Redis, socket: string): Promise<void> {
  await redis.config('SET', 'stop-writes-on-bgsave-error', 'no')
  await redis.config('SET', 'save', '3600 1000000')
  const [, file = ''] = await redis.config('GET', 'dbfilename')
  // No file can take the place of a directory that isn't empty.
  mkdirSync(join(dirname(socket), file, 'full'), { recursive: true })
  await redis.bgsave()
  await waitFor('a save has failed', async () => /rdb_last_bgsave_status:err/.test(await redis.info('persistence')))
}

interface Refusal {
  prepare?: (redis: Redis, socket: string) => Promise<void>
  begin: string[]
  end: string[]
}

const refusals: Record<string, Refusal> = {
  'is a replica for a moment': { begin: ['REPLICAOF', '127.0.0.1', '1'], end: ['REPLICAOF', 'NO', 'ONE'] },
  'fails to save for a moment': { prepare: failSaves, begin: ['CONFIG', 'SET', 'stop-writes-on-bgsave-error', 'yes'], end: ['CONFIG', 'SET', 'stop-writes-on-bgsave-error', 'no'] },
  'lacks its replicas for a moment': { begin: ['CONFIG', 'SET', 'min-replicas-to-write', '1'], end: ['CONFIG', 'SET', 'min-replicas-to-write', '0'] }
}
for (const [name, { prepare, begin, end }] of Object.entries(refusals)) {
  void t.test(`fault 24 Redis ${name}: jobs that end then keep their outcome and aren't run again, and new calls get a 503`, { buffered: true }, async t => {
    const service = await createService(t, tools)
    const redis = new Redis(service.redis.socket, { reconnectOnError: () => false })
    t.teardown(() => { redis.disconnect() })
    await prepare?.(redis, service.redis.socket)
    const call = async (word: string[]): Promise<unknown> => await redis.call(...word as [string, ...string[]])
    t.equal((await service.client.call('echo')).ok, true)
    const { id } = await submit(service.client, { type: 'agentcli.once', input: { mark: 'kept', sec: '1' }, max_attempts: 3 })
    await waitFor('it runs', () => runsOf(service).size === 1)
    await call(begin)
    const refused = await service.client.request('/v1/agent-tools/invoke-batch', { body: { calls: [{ call_id: 'a', name: 'echo' }] } })
    t.match(refused, { status: 503, body: { error: { code: 'UNAVAILABLE' } } })
    await delay(1_800)
    await call(end)
    await waitFor('it serves again', async () => (await service.client.request('/v1/agent-tools/invoke-batch', { body: { calls: [{ call_id: 'a', name: 'echo' }] } })).status === 200)
    await reach(service.client, id, 'succeeded')
    t.same(runsOf(service), new Map([['kept', 1]]))
  })
}

void t.test('fault 28 Redis is flushed while calls wait and run: they are answered, nothing crashes, and later calls work', { buffered: true }, async t => {
  const service = await createService(t, tools)
  const redis = plainRedis(t, service.redis)
  const waiting = service.client.batch([{ call_id: 'a', name: 'once', arguments: { mark: 'flushed', sec: '3' } }, { call_id: 'b', name: 'nap', arguments: { ms: 10 } }])
  await waitFor('it runs', () => runsOf(service).size === 1)
  await redis.flushall()
  const { results: [flushed] } = await waiting
  t.equal(flushed?.ok, false)
  await waitFor('the worker serves the queue again', async () => (await service.client.call('echo', {}, { wait_ms: 3_000 })).ok)
  t.equal((await service.client.call('echo', {}, { queue: 'another' })).ok, true)
  for (const app of [service.api, ...service.workers]) t.equal(app.child.exitCode, null)
})
