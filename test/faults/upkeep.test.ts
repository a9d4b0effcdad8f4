import { JobLister } from '@toolyard/queue'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { startPool } from '../support/pool.ts'
import { startTestRedis } from '../support/redis.ts'
import { createService } from '../support/service.ts'
import { cancel, submit } from '../jobs/submission.ts'

const server = await startTestRedis(t)

t.setTimeout(240_000)
// They wait, and each has data of its own.
t.jobs = 3

t.test('an ended job no longer counts as unfinished, though its key makes no more jobs', { buffered: true }, async t => {
  const service = await createService(t)
  const redis = await connectTo(t, service.redis)
  await service.client.batch([{ call_id: 'a', name: 'data_file_read', arguments: { path: 'README.md' } }])
  const { id } = await submit(service.client, { type: 'data.file_read', input: { path: 'README.md' }, delay_ms: 45_000 })
  await waitFor('they are entered', async () => await redis.zcard('toolyard:open:admin') === 2)
  t.same(await redis.smembers('toolyard:open-keys'), ['admin'])
  await waitFor('the ended one is dropped', async () => await redis.zcard('toolyard:open:admin') === 1, 60_000)
  t.match(await redis.zrange('toolyard:open:admin', '0', '0'), [new RegExp(id)], 'one that waits stays')
  await cancel(service.client, id)
  await waitFor('nothing is left', async () => await redis.exists('toolyard:open:admin', 'toolyard:open-keys') === 0, 60_000)
})

t.test('jobs are removed when they are old enough, though no other job ends; a queue without jobs is forgotten and can be used again', { buffered: true }, async t => {
  const { redis, directory, queues, add } = await startPool(t, server, { maxQueues: 1, retention: { ageSec: 1, count: 1_000 } })
  const id = await add('first')
  await waitFor('it has run', async () => await redis.hexists(`toolyard:{first}:${id}`, 'finishedOn') === 1)
  await waitFor('it is gone', async () => await redis.exists(`toolyard:{first}:${id}`) === 0, 45_000)
  await waitFor('the index has forgotten it', async () => await redis.zcard('toolyard:{first}:created') === 0)
  t.strictSame((await new JobLister({ redis, directory, queues }).list({ limit: 10 })).jobs, [])

  await t.rejects(add('second'), { name: 'QueueLimitError' }, 'one queue is all there may be')
  await waitFor('the queue is noticed to be empty', async () => await redis.hexists('toolyard:queues:empty', 'first') === 1, 90_000)
  await redis.hset('toolyard:queues:empty', 'first', Date.now() - 3_600_000)
  await waitFor('the queue is forgotten', async () => (await directory.list()).length === 0, 90_000)
  const second = await add('second')
  await waitFor('the other queue is served', async () => await redis.hexists(`toolyard:{second}:${second}`, 'finishedOn') === 1)
  t.same(await directory.list(), ['second'])
})

t.test('callbacks are removed when they are old enough, though no other callback ends', { buffered: true }, async t => {
  const service = await createService(t)
  const redis = await connectTo(t, service.redis)
  const stem = 'toolyard:{+callbacks}:'
  for (const [end, id, hours] of [['completed', 'sent', 2], ['failed', 'given-up', 25], ['failed', 'young', 2]] as const) {
    await redis.multi().hset(stem + id, 'timestamp', '1', 'opts', '{}', 'data', '{}').zadd(stem + end, Date.now() - hours * 3_600_000, id).exec()
  }
  await waitFor('the old ones are gone', async () => await redis.exists(`${stem}sent`, `${stem}given-up`) === 0, 120_000)
  t.equal(await redis.exists(`${stem}young`), 1)
})
