import { OnceStore } from '@toolyard/queue'
import t from 'tap'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'

const onces = new OnceStore(await connectTo(t, await startTestRedis(t), 'request'))
const once = (key: string, request = 'r1'): Parameters<OnceStore['take']>[0] => ({ owner: 'k', key, request })

t.test('RC23 an idempotency key that made no job is released', async t => {
  t.equal(await onces.take(once('free'), 'first'), undefined)
  await onces.release(once('free'))
  t.equal(await onces.take(once('free', 'r2'), 'second'), undefined)
})

t.test('RC23 an idempotency key that a repeat has found is not released: the repeat may have made its jobs', async t => {
  await onces.take(once('found'), 'jobs')
  t.same(await onces.take(once('found'), 'others'), { request: 'r1', text: 'jobs', confirmed: false })
  await onces.release(once('found'))
  t.match(await onces.take(once('found'), 'others'), { text: 'jobs' })
})

t.test('RC23 an idempotency key is released though another request has found it', async t => {
  await onces.take(once('other'), 'jobs')
  t.match(await onces.take(once('other', 'r2'), 'others'), { request: 'r1' })
  await onces.release(once('other'))
  t.equal(await onces.take(once('other', 'r2'), 'others'), undefined)
})

t.test('RC23 a confirmed idempotency key is not released', async t => {
  await onces.take(once('sure'), 'jobs')
  await onces.confirm(once('sure'), 'ids')
  await onces.release(once('sure'))
  t.same(await onces.take(once('sure'), ''), { request: 'r1', text: 'ids', confirmed: true })
})
