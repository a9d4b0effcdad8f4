import { alarmsKey } from '@toolyard/store'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { startPool } from '../support/pool.ts'
import { startTestRedis } from '../support/redis.ts'

const server = await startTestRedis(t)

t.test('a job that parks again while its old alarm is dealt with keeps the new one', async t => {
  const { redis } = await startPool(t, server, { known: ['first'] })
  const key = alarmsKey('first')
  const later = Date.now() + 3_600_000
  const released: unknown[] = []
  const run = redis.eval.bind(redis) as (...args: unknown[]) => Promise<unknown>
  redis.eval = async (...args: unknown[]) => {
    const answer = await run(...args)
    const id = ['parks-again', 'has-ended'].find(each => args.includes(each) && args.some(arg => String(arg).endsWith('waiting-children')))
    if (id === undefined) return answer
    released.push(id)
    // It was at work: its worker parks it now.
    if (id === 'parks-again') await redis.zadd(key, later, id)
    return answer
  }
  await redis.zadd(key, 1, 'parks-again', 2, 'has-ended')
  await waitFor('both have been dealt with', async () => released.length >= 2 && await redis.zscore(key, 'has-ended') === null)
  t.same(released, ['parks-again', 'has-ended'])
  t.same(await redis.zrange(key, '0', '-1', 'WITHSCORES'), ['parks-again', String(later)])
})
