import { randomBytes } from 'node:crypto'
import { BatchedScript, countReplicas, eachCall, RedisUnavailableError, Replicas, ReplicasMissingError, Sessions, StoredKeys, StoredSecrets } from '@toolyard/store'
import t from 'tap'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'

const slave = (nth: number, state: string, lag: number): string => `slave${nth}:ip=127.0.0.1,port=70${nth},state=${state},offset=1,lag=${lag}\r`

t.test('only replicas that are online and keep up count, and one that was lost as long as one that hangs', async t => {
  const heard = new Map<string, number>()
  const tell = (replid: string, sec: number, ...slaves: string[]): number => (
    countReplicas(['role:master\r', ...slaves, `master_replid:${replid}\r`, ''].join('\n'), heard, sec * 1_000)
  )
  t.equal(tell('a1', 0), 0)
  t.equal(tell('a1', 20, slave(0, 'online', 0), slave(1, 'online', 11), slave(2, 'wait_bgsave', 0), slave(3, 'online', 1)), 2)
  t.equal(tell('a1', 28, slave(0, 'online', 0)), 2)
  t.equal(tell('a1', 31, slave(0, 'online', 1)), 1)
  t.equal(tell('b2', 31), 0, 'a successor has replicas of its own')
  t.equal(tell('a1', 41), 0)
})

t.test('a server that hangs fails what waits for its replicas, and what comes later is done', async t => {
  const server = await startTestRedis(t)
  const replicas = new Replicas(await connectTo(t, server), 0)
  t.teardown(() => { replicas.stop() })
  const runs = [{ script: new BatchedScript('count', eachCall("return redis.call('INCR', KEYS[1])")), calls: [{ keys: ['a'], args: [] }] }]
  t.same(await replicas.run(runs), [[1]])
  process.kill(server.pid(), 'SIGSTOP')
  t.teardown(() => { process.kill(server.pid(), 'SIGCONT') })
  await t.rejects(replicas.run(runs), ReplicasMissingError)
  process.kill(server.pid(), 'SIGCONT')
  t.match(await replicas.run(runs), [[Number]])
})

t.test('a revoked key and a removed session are told of only when replicas know it, also when that is repeated', async t => {
  const redis = await connectTo(t, await startTestRedis(t))
  const replicas = new Replicas(redis, 1)
  t.teardown(() => { replicas.stop() })
  const [sure, unsure] = [new StoredKeys(redis), new StoredKeys(redis, replicas)]
  await sure.add({ name: 'old', role: 'read', sse: false })
  for (let times = 0; times < 2; times++) await t.rejects(unsure.revoke('old'), RedisUnavailableError)
  t.equal(await sure.revoke('old'), false)
  const made = await new Sessions(redis).make({ tenant: undefined, keyName: 'k', ttlSec: 60, quotaBytes: 1, from: undefined })
  if (typeof made === 'string' || !('id' in made)) return t.fail('it was not made')
  for (let times = 0; times < 2; times++) await t.rejects(new Sessions(redis, replicas).remove(made.id, undefined), RedisUnavailableError)
  t.equal((await new Sessions(redis).remove(made.id, undefined))?.state, 'removing')
})

t.test('a secret that was stored or removed is told of only when replicas know it, and can be removed while Redis is full', async t => {
  const redis = await connectTo(t, await startTestRedis(t))
  const replicas = new Replicas(redis, 1)
  t.teardown(() => { replicas.stop() })
  const keys = { current: randomBytes(32), previous: undefined }
  const [sure, unsure] = [new StoredSecrets(redis, keys), new StoredSecrets(redis, keys, replicas)]
  const scope = { kind: 'operator' } as const
  await sure.put('a', scope, 'value', undefined)
  await t.rejects(unsure.put('a', scope, 'other', undefined), RedisUnavailableError)
  for (let times = 0; times < 2; times++) await t.rejects(unsure.remove('a', scope), RedisUnavailableError)
  t.same([await sure.remove('a', scope), await sure.list()], [false, []])
  await sure.put('a', scope, 'value', undefined)
  await redis.config('SET', 'maxmemory', '1')
  await t.rejects(sure.put('b', scope, 'value', undefined), { message: /Redis is full/ })
  t.equal(await sure.remove('a', scope), true)
  await redis.config('SET', 'maxmemory', '0')
})
