import { newJobId, type Redis } from '@toolyard/store'
import t from 'tap'
import type { Test } from 'tap'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { startPool, type StartedPool } from '../support/pool.ts'
import { startTestRedis } from '../support/redis.ts'

/** A pool that serves all queues; `q` is there. */
async function start (t: Test): Promise<StartedPool & { listening: Redis }> {
  const server = await startTestRedis(t)
  return { ...await startPool(t, server, { known: ['q'] }), listening: await connectTo(t, server, 'subscriber') }
}

t.test('a worker serves a queue that it hears of, though it has not seen it in the list', async t => {
  const { pool, redis } = await start(t)
  t.equal(pool.places.total, 1)
  await redis.publish('toolyard:queues', 'heard')
  await waitFor('it is served', () => pool.places.total === 2)
  await waitFor('it is left, since it is in no list', () => pool.places.total === 1)
})

t.test('a queue that is registered is announced to the workers; one that an older release has made is found in the list', async t => {
  const { pool, redis, listening, directory } = await start(t)
  const heard: string[] = []
  listening.on('message', (_channel: string, queue: string) => heard.push(queue))
  await listening.subscribe('toolyard:queues')
  await directory.register('new')
  await waitFor('it is served', () => pool.places.total === 2)
  await waitFor('it was told', () => heard.length > 0)
  await redis.sadd('toolyard:queues', 'of-an-older-release')
  await waitFor('that one is served too', () => pool.places.total === 3)
  t.same(heard, ['new'])
})

t.test('of the processes that serve the same queues, the one whose turn it is takes up lost jobs', async t => {
  const { redis, queues } = await start(t)
  const [turn = ''] = await waitFor('a turn was taken', async () => {
    const keys = await redis.keys('toolyard:upkeep:lost-jobs:*')
    return keys.length > 0 && keys
  })
  const lasts = await redis.pttl(turn)
  // Whose turn it is takes it again and again.
  const take = async (): Promise<unknown> => await redis.set(turn, 'of another process', 'PX', lasts)
  await take()
  const taken = setInterval(() => { void take() }, lasts / 4)
  t.teardown(() => { clearInterval(taken) })
  const id = newJobId()
  await queues.add('q', [{ id, type: 'x', delayMs: 3_600_000, data: { tool: 'x', arguments: {}, timeoutSec: 1, tags: [], keyName: 'k' } }])
  await redis.multi().zrem('toolyard:{q}:delayed', id).lpush('toolyard:{q}:active', id).hset(`toolyard:{q}:${id}`, 'ats', 1, 'unbegun', 1)
    .sadd('toolyard:{q}:stalled', id).exec()
  // Everything else that is done from time to time goes on meanwhile.
  for (let round = 0; round < 3; round++) {
    await redis.del('toolyard:upkeep:alarms')
    await waitFor('other work was done', async () => await redis.exists('toolyard:upkeep:alarms') === 1)
  }
  t.equal(await redis.llen('toolyard:{q}:active'), 1)
  clearInterval(taken)
  await waitFor('it has ended', async () => await redis.zcard('toolyard:{q}:completed') === 1)
})
