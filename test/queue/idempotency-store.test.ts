import { IdempotencyStore, LargeWrites } from '@toolyard/queue'
import t from 'tap'
import { RedisUnavailableError, Replicas } from '@toolyard/store'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'

const redis = await connectTo(t, await startTestRedis(t), 'request')
const store = new IdempotencyStore(redis)
const once = (key: string, request = 'r1'): Parameters<IdempotencyStore['take']>[0] => ({ owner: 'k', key, request })

t.test('RC23 an idempotency key that made no job is released', async t => {
  t.equal(await store.take(once('free'), 'first'), undefined)
  await store.release(once('free'), 'ids')
  t.equal(await store.take(once('free', 'r2'), 'second'), undefined)
})

t.test('RC23 an idempotency key that a repeat has found is not released, and what makes its jobs is dropped: the repeat may have made them', async t => {
  await store.take(once('found'), 'jobs')
  t.same(await store.take(once('found'), 'others'), { request: 'r1', text: 'jobs', confirmed: false })
  await store.release(once('found'), 'ids')
  t.same(await store.take(once('found'), 'others'), { request: 'r1', text: 'ids', confirmed: true })
  await store.confirm(once('found'), 'made')
  t.match(await store.take(once('found'), 'others'), { text: 'made' }, 'the repeat has made them')
})

t.test('RC23 a large request with an idempotency key waits for its turn, and stores nothing when that does not come', async t => {
  const large = new LargeWrites()
  const ends: Array<() => void> = []
  const others = [1, 2].map(async () => { await large.write('loud', 100_000, async () => { await new Promise<void>(resolve => { ends.push(resolve) }) }) })
  const waiting = new IdempotencyStore(redis, undefined, large)
  await t.rejects(waiting.take(once('large'), 'x'.repeat(100_000)), RedisUnavailableError)
  t.equal(await store.take(once('large'), ''), undefined)
  t.equal(await waiting.take(once('small'), 'jobs'), undefined, 'a small one needs no turn')
  for (const end of ends) end()
  await Promise.all(others)
  t.equal(await waiting.take(once('large'), 'x'.repeat(100_000)), undefined)
})

t.test('RC23 an idempotency key is released though another request has found it', async t => {
  await store.take(once('other'), 'jobs')
  t.match(await store.take(once('other', 'r2'), 'others'), { request: 'r1' })
  await store.release(once('other'), 'ids')
  t.equal(await store.take(once('other', 'r2'), 'others'), undefined)
})

t.test('RC23 a confirmed idempotency key is not released', async t => {
  await store.take(once('sure'), 'jobs')
  await store.confirm(once('sure'), 'ids')
  await store.release(once('sure'), 'others')
  t.same(await store.take(once('sure'), ''), { request: 'r1', text: 'ids', confirmed: true })
})

t.test('RC23 where replicas are wanted, an idempotency key is taken only when they have it, and a repeat finds it', async t => {
  const replicas = new Replicas(redis, 1)
  t.teardown(() => { replicas.stop() })
  const unsure = new IdempotencyStore(redis, replicas)
  for (let times = 0; times < 2; times++) await t.rejects(unsure.take(once('replicated'), 'jobs'), RedisUnavailableError)
  t.match(await unsure.take(once('replicated'), ''), { text: 'jobs', confirmed: false }, 'who only looks waits for nobody')
})
