import { JobQueues, QueueDirectory, type NewJob } from '@toolyard/queue'
import { JobsUnknownError, newJobId, queueKey, Replicas, type Redis } from '@toolyard/store'
import t from 'tap'
import type { Test } from 'tap'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { startRedisProcess } from '../support/redis-process.ts'
import { startRedisProxy, type RedisProxy } from '../support/redis-proxy.ts'
import { startTestRedis } from '../support/redis.ts'

const retention = { ageSec: 60, count: 1_000 }
const hold = { digest: 'd', expiresSec: 60, approvers: 1, self: false, parts: { entry: 'd', program: 'd', key: 'd' } }
const job = (data: Partial<NewJob['data']> = {}): NewJob => (
  { id: newJobId(), type: 'x', data: { tool: 'x', arguments: {}, timeoutSec: 1, tags: [], keyName: 'k', ...data } }
)
const waiting = async (redis: Redis): Promise<string[]> => await redis.zrange(queueKey('q', 'prioritized'), '0', '-1')

/** Plain calls and held ones are added by a command each. That of the held ones is refused. */
async function refuseHeld (t: Test, proxy: RedisProxy, redis: Redis, queues: JobQueues): Promise<void> {
  const [plain, held] = [job(), job({ hold })]
  void proxy.failWhere('ERR an error of the script', (name, args) => name.startsWith('eval') && args.some(arg => arg.includes('"hold"')))
  t.same([...(await queues.add('q', [plain, held])).keys()], [held.id])
  t.same(await waiting(redis), [plain.id])
  proxy.mend()
  t.same(await queues.add('q', [plain, held]), new Map())
}

void t.test('of calls that are added by two commands those are refused that Redis has refused', async t => {
  const server = await startTestRedis(t)
  const proxy = await startRedisProxy(t, { path: server.socket })
  const redis = await connectTo(t, proxy)
  const queues = new JobQueues(redis, new QueueDirectory(redis, 10), retention)
  t.teardown(() => queues.close())
  await refuseHeld(t, proxy, redis, queues)

  // Each command adds at most 50. Of the second one nothing is known.
  const plain = Array.from({ length: 100 }, () => job())
  const last = plain[99]?.id ?? ''
  void proxy.failWhere('NOPERM this user has no permissions', (name, args) => name.startsWith('eval') && args.some(arg => arg.includes(last)))
  await t.rejects(queues.add('q', plain), JobsUnknownError)
  t.equal((await waiting(redis)).filter(id => plain.some(each => each.id === id)).length, 50)
})

void t.test('the same where replicas must have the calls', async t => {
  const master = await startRedisProcess(t)
  const replica = await startRedisProcess(t, { config: { replicaof: `127.0.0.1 ${master.port}` } })
  await waitFor('the replica is in step', async () => /master_link_status:up/.test(await replica.client.info('replication')))
  const proxy = await startRedisProxy(t, { host: '127.0.0.1', port: master.port })
  const redis = await connectTo(t, proxy)
  const replicas = new Replicas(redis, 1)
  t.teardown(() => { replicas.stop() })
  const queues = new JobQueues(redis, new QueueDirectory(redis, 10), retention, { replicas })
  t.teardown(() => queues.close())
  await refuseHeld(t, proxy, redis, queues)
})
