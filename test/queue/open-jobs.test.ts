import { JobQueues, QueueDirectory, QueueFullError, type NewJob } from '@toolyard/queue'
import { newJobId } from '@toolyard/store'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'

const redis = await connectTo(t, await startTestRedis(t))
const limit = 3_000
const retention = { ageSec: 60, count: 10_000 }
const queues = new JobQueues(redis, new QueueDirectory(redis, 10), retention, { perOwner: () => limit })
t.teardown(() => queues.close())
const data: NewJob['data'] = { tool: 'x', arguments: {}, timeoutSec: 1, tags: [], keyName: 'k' }
const jobs = (count: number): NewJob[] => Array.from({ length: count }, () => ({ id: newJobId(), type: 'x', data }))

/** How often Redis has looked whether a key exists. */
async function looks (): Promise<number> {
  return Number(/cmdstat_exists:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0)
}

t.test('what an owner has waiting is read by time, not by add: adds above half of its limit cost Redis no more than others', async t => {
  for (let made = 0; made < limit - 400; made += 100) await queues.add('q', jobs(100))
  const [before, since] = [await looks(), performance.now()]
  for (let added = 0; added < 300; added++) t.equal((await queues.add('q', jobs(1))).size, 0)
  const allowed = 10 * (performance.now() - since) + 5 * 300 + 1_000
  t.ok(await looks() - before < allowed, `${await looks() - before} looks, ${Math.round(allowed)} are allowed`)
})

t.test('an owner that is full has room again when jobs have ended, wherever these are among its jobs', async t => {
  const refused = await queues.add('q', jobs(200))
  t.equal([...refused.values()].filter(error => error instanceof QueueFullError).length, 100)
  const waiting = await redis.zrange('toolyard:{q}:prioritized', '0', '-1')
  for (const id of waiting.slice(-5)) {
    await redis.zrem('toolyard:{q}:prioritized', id)
    await redis.zadd('toolyard:{q}:completed', Date.now(), id)
  }
  await waitFor('one more is taken', async () => (await queues.add('q', jobs(1))).size === 0)
})
