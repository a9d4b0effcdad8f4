import t from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { waitFor } from '../support/condition.ts'
import { startRedisProcess } from '../support/redis-process.ts'
import { startProcesses } from '../support/service.ts'

void t.test('a Redis that drops keys when it is full is refused by API and worker; with ALLOW_UNSAFE_REDIS=1 they start, and /ready says so', async t => {
  const redis = await startRedisProcess(t, { config: { 'maxmemory-policy': 'allkeys-lru', appendonly: 'no' } })
  const env = { REDIS_URL: `redis://127.0.0.1:${redis.port}` }
  await t.rejects(startProcesses(t, env, { workers: 0 }), /ended with 1:[\s\S]*refuses to work on this Redis[\s\S]*maxmemory-policy is allkeys-lru[\s\S]*ALLOW_UNSAFE_REDIS=1/)
  const service = await startProcesses(t, { ...env, ALLOW_UNSAFE_REDIS: '1' }, { files: programs, tools: entries })
  t.equal((await service.client.call('echo')).ok, true)
  const ready = await service.client.request('/ready')
  t.equal(ready.status, 200)
  t.match(JSON.stringify(ready.body), /maxmemory-policy is allkeys-lru.*no append-only file/)
  t.match(await service.api.output(), /"level":50.*Redis is not safe for jobs/)
  await t.rejects(service.startWorker({ ALLOW_UNSAFE_REDIS: '' }), /maxmemory-policy is allkeys-lru/)
})

void t.test('/ready fails for a Redis that becomes unsafe, also while the connection stands, until it is safe again', async t => {
  const redis = await startRedisProcess(t)
  const service = await startProcesses(t, { REDIS_URL: `redis://127.0.0.1:${redis.port}` }, { workers: 0 })
  t.equal((await service.client.request('/ready')).status, 200)
  await redis.client.config('SET', 'maxmemory-policy', 'volatile-lru')
  const red = await waitFor('/ready is red', async () => {
    const answer = await service.client.request('/ready')
    return answer.status === 503 && JSON.stringify(answer.body).includes('volatile-lru')
  })
  t.ok(red)
  await redis.client.config('SET', 'maxmemory-policy', 'noeviction')
  await waitFor('/ready is green', async () => (await service.client.request('/ready')).status === 200)
})
