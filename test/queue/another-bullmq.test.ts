import { createRequire } from 'node:module'
import t from 'tap'
import { startTestRedis } from '../support/redis.ts'

/* Another version of BullMQ is played by a script whose text has changed before anybody reads it. */

interface Script { content: string }

t.test('with another version of BullMQ its own scripts and loop run the jobs, and the reason is given', async t => {
  const { moveToFinished } = createRequire(import.meta.url)('bullmq/dist/cjs/scripts/index.js') as { moveToFinished: Script }
  moveToFinished.content += '\n-- another version'
  const { describeBackend, JobQueues, QueueDirectory, WorkerPool } = await import('@toolyard/queue')
  const { newJobId } = await import('@toolyard/store')
  const { connectTo } = await import('../support/connection.ts')
  const { waitFor } = await import('../support/condition.ts')
  t.match(describeBackend('fast'), /^bullmq: this version of BullMQ has other scripts than ours were made for: moveToFinished [0-9a-f]{32}$/)
  t.equal(describeBackend('bullmq'), 'bullmq')

  const server = await startTestRedis(t)
  const redis = await connectTo(t, server)
  const retention = { ageSec: 60, count: 10 }
  const queues = new JobQueues(redis, new QueueDirectory(redis, 1), retention)
  const pool = new WorkerPool({
    redis, subscriber: await connectTo(t, server, 'subscriber'), retention, queues: ['q'], concurrency: 1, handle: async () => ({ ok: true, json: '1', value: 1 }), onError: error => { t.error(error) }
  })
  await pool.start()
  t.teardown(async () => {
    await pool.stop(0)
    await queues.close()
  })
  t.same(await queues.add('q', [{ id: newJobId(), type: 'x', data: { tool: 'x', arguments: {}, timeoutSec: 1, tags: [], keyName: 'k' } }]), new Map())
  await waitFor('it has ended', async () => await redis.zcard('toolyard:{q}:completed') === 1)
  t.ok(await redis.xlen('toolyard:{q}:events') > 0, 'BullMQ\'s own scripts ran it')
})
