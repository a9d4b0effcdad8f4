import { unlessAborted } from '@toolyard/runtime'
import t from 'tap'
import { createClient } from '../support/client.ts'
import { waitFor } from '../support/condition.ts'
import { freePort } from '../support/redis-process.ts'
import { createService, testKeys } from '../support/service.ts'
import { entries, programs } from '../e2e/tools.ts'

t.test('Redis is stopped: 503 within 2 s; it is back: the API serves again by itself', async t => {
  const service = await createService(t, { files: programs, tools: entries })
  t.equal((await service.client.call('echo')).ok, true)
  await service.redis.stop()
  const body = { calls: [{ call_id: 'a', name: 'echo' }] }
  const times: number[] = []
  for (let round = 0; round < 3; round++) {
    const startedAt = performance.now()
    const answer = await service.client.request('/v1/agent-tools/invoke-batch', { body })
    times.push(performance.now() - startedAt)
    t.equal(answer.status, 503)
    t.match(answer.body, { ok: false, error: { code: 'UNAVAILABLE' } })
  }
  t.ok(Math.max(...times) < 2_000, `each within 2 s: ${times.join()}`)
  t.equal((await service.client.request('/ready')).status, 503)
  t.equal((await service.client.request('/health')).status, 200)
  t.equal((await service.client.request('/v1/agent-tools')).status, 200, 'the list needs no Redis')
  t.equal((await service.client.call('no_such_tool')).error?.code, 'UNKNOWN_TOOL', 'nor do calls that fail without a job')
  await service.redis.start()
  await waitFor('the API is ready', async () => (await service.client.request('/ready')).status === 200)
  t.equal((await service.client.call('echo')).ok, true)
})

t.test('Redis hangs: batches, counted requests and uploads get a 503 within 2 s, and the metrics of an API and a worker say so', async t => {
  const service = await createService(t, { workers: 0 })
  const port = await freePort()
  await service.startWorker({ METRICS_PORT: String(port), SANDBOX: 'off' })
  const counted = createClient((await service.startApi({ RATE_LIMIT_PER_MINUTE: '1000' })).address, testKeys.admin)
  const { client, redis } = service
  t.equal((await client.request('/v1/files/a.txt', { method: 'PUT', body: 'a' })).status, 201)
  process.kill(redis.pid(), 'SIGSTOP')
  try {
    const signal = AbortSignal.timeout(8_000)
    const timed = async <T>(what: string, asking: Promise<T>): Promise<T> => {
      const startedAt = performance.now()
      const answer = await unlessAborted(asking, signal)
      t.ok(performance.now() - startedAt < 2_000, `${what} within 2 s: ${performance.now() - startedAt} ms`)
      return answer
    }
    const [batch, list, put, metrics, ofWorker] = await Promise.allSettled([
      timed('a batch', client.request('/v1/agent-tools/invoke-batch', { body: { calls: [{ call_id: 'a', name: 'data_file_read', arguments: { path: 'README.md' } }] } })),
      timed('a counted request', counted.request('/v1/agent-tools')),
      timed('an upload', client.request('/v1/files/a.txt', { method: 'PUT', body: 'b' })),
      timed('metrics', client.request('/metrics').then(({ text }) => text)),
      timed('metrics of a worker', fetch(`http://127.0.0.1:${port}/metrics`).then(async answer => await answer.text()))
    ])
    for (const refused of [batch, list, put]) t.match(refused, { value: { status: 503, body: { ok: false, error: { code: 'UNAVAILABLE' } } } })
    for (const told of [metrics, ofWorker]) t.match(told, { value: /^toolyard_redis_up 0$/m })
  } finally {
    process.kill(redis.pid(), 'SIGCONT')
  }
  await waitFor('uploads are taken again', async () => (await client.request('/v1/files/a.txt', { method: 'PUT', body: 'c' })).status === 200)
})

t.test('an API whose workspace is missing makes it', async t => {
  const service = await createService(t, { workers: 0, env: { WORKSPACE_DIR: 'not/there/yet' } })
  t.equal((await service.client.request('/v1/files')).status, 200)
})
