import { JobCanceller, JobQueues, QueueDirectory, WorkerPool, type NewJob } from '@toolyard/queue'
import { newJobId, type Redis } from '@toolyard/store'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'

const server = await startTestRedis(t)
const redis = await connectTo(t, server)
const data: NewJob['data'] = { tool: 'x', arguments: {}, timeoutSec: 1, tags: [], keyName: 'k' }
const job = (rest: Partial<NewJob['data']> = {}): NewJob => ({ id: newJobId(), type: 'x', data: { ...data, ...rest } })

function listeners (connection: Redis): number {
  return connection.eventNames().reduce((sum, name) => sum + connection.listenerCount(name), 0)
}

/** Keys in Redis without an end of their own. */
async function endlessKeys (): Promise<string[]> {
  const keys = await redis.keys('toolyard:*')
  const ttls = await Promise.all(keys.map(key => redis.pttl(key)))
  return keys.filter((_key, place) => ttls[place] === -1).sort()
}

t.test('thousands of queue names that are opened leave no listener, no key and little memory', async t => {
  const connection = await connectTo(t, server, 'request')
  const queues = new JobQueues(
    connection, new QueueDirectory(connection, 1_000_000), { ageSec: 3_600, count: 1_000 }
  )
  await queues.open('first').getJob('x')
  const before = listeners(connection)
  for (let n = 0; n < 3_000; n++) await queues.open(`name-${n}`).getJob('x')
  t.equal(listeners(connection), before)
  t.same(await redis.keys('toolyard:{name-*'), [])
  await queues.close()
})

t.test('a lost connection ends no process that has opened queues', async t => {
  const own = await startTestRedis(t)
  const connection = await connectTo(t, own, 'request')
  const queues = new JobQueues(connection, new QueueDirectory(connection, 100), { ageSec: 3_600, count: 1_000 })
  await queues.open('first').getJob('x')
  const failed = new Promise(resolve => { connection.once('error', resolve) })
  await own.stop()
  // Where nobody listens, an error is thrown here.
  await failed
  await own.start()
  await waitFor('the queue is there again', async () => await queues.open('first').getJob('x').then(() => true, () => false))
  await queues.close()
})

t.test('queues that come and go with their jobs leave nothing, in Redis and in the processes', { timeout: 300_000 }, async t => {
  const retention = { ageSec: 1, count: 10 }
  const [connection, subscriber, api] = [await connectTo(t, server), await connectTo(t, server, 'subscriber'), await connectTo(t, server, 'request')]
  const before = [connection, subscriber, api].map(listeners)
  const directory = new QueueDirectory(api, 1_000_000)
  const queues = new JobQueues(api, directory, retention, { queueDepth: 1_000, perOwner: () => 100_000 })
  const canceller = new JobCanceller(api, queues)
  const pool = new WorkerPool({
    redis: connection,
    subscriber,
    retention,
    queues: ['*'],
    concurrency: 2,
    handle: async () => ({ kind: 'succeeded', json: '1', value: 1 }),
    onError: error => { t.error(error) }
  })
  await pool.start()
  const [started, serving] = [listeners(subscriber), listeners(connection)]
  const names = Array.from({ length: 60 }, (_, n) => `q-${n}`)
  let jobs = 0
  for (const queue of names) {
    const last = { ...job(), delayMs: 5_000 }
    await queues.add(queue, [last])
    for (let round = 0; round < 5; round++) {
      const [plain, serial, waiting, gone] = [
        job(), job({ serial: true }), job({ dependsOn: [{ id: last.id, queue }] }), job({ dependsOn: [{ id: last.id, queue }] })
      ]
      await queues.add(queue, [plain, serial, waiting, gone])
      await canceller.cancel(queue, gone.id)
      jobs += 4
    }
    t.equal(await redis.scard(`toolyard:{${queue}}:${last.id}:dependents`), 5, 'who was cancelled waits no longer')
  }
  t.comment(`${jobs} jobs in ${names.length} queues`)
  await waitFor('all jobs were removed', async () => (await redis.keys('toolyard:{q-*:????????-*')).length === 0, 120_000)
  await waitFor('the queues are forgotten', async () => {
    // Ten minutes are over.
    for (const queue of await redis.hkeys('toolyard:queues:empty')) await redis.hset('toolyard:queues:empty', queue, 0)
    return (await directory.list()).length === 0
  }, 120_000)
  await waitFor('nothing is left that has no end', async () => (await endlessKeys()).length === 0, 45_000).catch(() => {})
  t.same(await endlessKeys(), [])
  await waitFor('the worker has left the queues', () => listeners(connection) <= serving, 10_000)
  t.equal(listeners(subscriber), started)
  await pool.stop(0)
  await queues.close()
  // One is the directory's.
  t.same([listeners(connection) - 1, listeners(api) - 1], [before[0], before[2]])
})

t.test('a paused queue is not forgotten, since its pause would be lost', { timeout: 120_000 }, async t => {
  const directory = new QueueDirectory(redis, 100)
  const retention = { ageSec: 3_600, count: 100 }
  const queues = new JobQueues(redis, directory, retention)
  await directory.register('resting')
  await directory.register('idle')
  await queues.open('resting').pause()
  const pool = new WorkerPool({ redis: await connectTo(t, server), subscriber: await connectTo(t, server, 'subscriber'), retention, queues: ['resting'], concurrency: 1, handle: async () => ({ kind: 'succeeded', json: '1', value: 1 }), onError: error => { t.error(error) } })
  await pool.start()
  await redis.hset('toolyard:queues:empty', 'resting', 0, 'idle', 0)
  await waitFor('the other queue is forgotten', async () => !(await directory.list()).includes('idle'), 60_000)
  t.same(await directory.list(), ['resting'])
  await pool.stop(0)
  await queues.close()
})
