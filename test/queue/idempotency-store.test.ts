import { IdempotencyStore } from '@toolyard/queue'
import t from 'tap'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'

const store = new IdempotencyStore(await connectTo(t, await startTestRedis(t), 'request'))
const once = (key: string, request = 'r1'): Parameters<IdempotencyStore['take']>[0] => ({ owner: 'k', key, request })

t.test('RC23 an idempotency key that made no job is released', async t => {
  t.equal(await store.take(once('free'), 'first'), undefined)
  await store.release(once('free'))
  t.equal(await store.take(once('free', 'r2'), 'second'), undefined)
})

t.test('RC23 an idempotency key that a repeat has found is not released: the repeat may have made its jobs', async t => {
  await store.take(once('found'), 'jobs')
  t.same(await store.take(once('found'), 'others'), { request: 'r1', text: 'jobs', confirmed: false })
  await store.release(once('found'))
  t.match(await store.take(once('found'), 'others'), { text: 'jobs' })
})

t.test('RC23 an idempotency key is released though another request has found it', async t => {
  await store.take(once('other'), 'jobs')
  t.match(await store.take(once('other', 'r2'), 'others'), { request: 'r1' })
  await store.release(once('other'))
  t.equal(await store.take(once('other', 'r2'), 'others'), undefined)
})

t.test('RC23 a confirmed idempotency key is not released', async t => {
  await store.take(once('sure'), 'jobs')
  await store.confirm(once('sure'), 'ids')
  await store.release(once('sure'))
  t.same(await store.take(once('sure'), ''), { request: 'r1', text: 'ids', confirmed: true })
})
