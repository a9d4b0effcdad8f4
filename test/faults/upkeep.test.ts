import { JobLister, JobQueues, QueueDirectory, WorkerPool, newJobId } from '@toolyard/queue'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'

const server = await startTestRedis(t)

t.test('jobs are removed when they are old enough, though no other job ends; a queue without jobs is forgotten and comes back', async t => {
  const redis = await connectTo(t, server)
  const retention = { ageSec: 1, count: 1_000 }
  const directory = new QueueDirectory(redis, 1)
  const queues = new JobQueues(redis, directory, retention)
  const pool = new WorkerPool({
    redis, subscriber: await connectTo(t, server, 'subscriber'), retention, queues: ['*'], concurrency: 1, handle: async () => ({ ok: true, json: '1', value: 1 }), onError: error => { t.error(error) }
  })
  await pool.start()
  t.teardown(async () => {
    await pool.stop(0)
    await queues.close()
  })
  const add = async (queue: string): Promise<string> => {
    const id = newJobId()
    await queues.add(queue, [{ id, type: 'x', data: { tool: 'x', arguments: {}, timeoutSec: 1, tags: [], keyName: 'k' } }])
    return id
  }
  const id = await add('first')
  await waitFor('it has run', async () => await redis.hexists(`toolyard:{first}:${id}`, 'finishedOn') === 1)
  await waitFor('it is gone', async () => await redis.exists(`toolyard:{first}:${id}`) === 0, 45_000)
  await waitFor('the index has forgotten it', async () => await redis.zcard('toolyard:{first}:created') === 0)
  t.same((await new JobLister({ redis, directory, queues }).list({ limit: 10 })).jobs, [])

  await t.rejects(add('second'), { name: 'QueueLimitError' }, 'one queue is all there may be')
  await waitFor('the queue is noticed to be empty', async () => await redis.hexists('toolyard:queues:empty', 'first') === 1, 90_000)
  await redis.hset('toolyard:queues:empty', 'first', Date.now() - 3_600_000)
  await waitFor('the queue is forgotten', async () => (await directory.list()).length === 0, 90_000)
  const second = await add('second')
  await waitFor('the other queue is served', async () => await redis.hexists(`toolyard:{second}:${second}`, 'finishedOn') === 1)
  t.same(await directory.list(), ['second'])
})
