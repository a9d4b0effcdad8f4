import type { JobListQuery } from '@toolyard/contract'
import { BulkChanges, type FinishedJobs, type JobCanceller, type JobLister } from '@toolyard/queue'
import { serverTime } from '@toolyard/store'
import t from 'tap'
import { connectTo } from '../support/connection.ts'
import { waitFor } from '../support/condition.ts'
import { startTestRedis } from '../support/redis.ts'

void t.test('a process that loses its lease during a page notes nothing of it, and leaves the change to the other', async t => {
  const redis = await connectTo(t, await startTestRedis(t))
  let pages = 0
  const lister = {
    count: async () => ({ total: 1, complete: true }),
    // It stands still for so long that another process takes over, and is a page ahead.
    list: async () => {
      pages++
      const [key = ''] = await redis.keys('toolyard:{bulk}:lease:*')
      await redis.set(key, 'another process')
      await redis.hset(key.replace('lease:', ''), { seen: 100, changed: 90, cursor: 'ahead' })
      return { jobs: [{ id: 'x', queue: 'q', status: 'queued' }], nextCursor: 'behind' }
    }
  } as unknown as JobLister
  let cancels = 0
  const canceller = { cancel: async () => { cancels++; return 'cancelled' } } as unknown as JobCanceller
  const changes = new BulkChanges({
    redis, lister, canceller, finished: {} as FinishedJobs, mayRun: () => true, onError: error => { t.fail(String(error)) }
  })
  t.teardown(() => { changes.stop() })
  const begun = await changes.begin({ action: 'cancel', filter: { queue: 'q' }, query: { queue: 'q', limit: 1 }, scope: {}, keyName: 'k' })
  if (begun === undefined) return t.fail('it was not begun')
  await waitFor('the page was done', () => cancels === 1)
  await waitFor('nothing more is done', async () => await redis.ping() === 'PONG')
  t.match(await changes.read(begun.id, {}), { state: 'running', seen: 100, changed: 90, cursor: 'ahead' })
  t.equal(pages, 1)
})

void t.test('a change means what another process made until it was asked for, by a clock that is a little ahead, and nothing that is made once it is begun', async t => {
  const redis = await connectTo(t, await startTestRedis(t))
  const asked: JobListQuery[] = []
  const lister = {
    count: async (query: JobListQuery) => { asked.push(query); return { total: 0, complete: true } },
    list: async (query: JobListQuery) => { asked.push(query); return { jobs: [], nextCursor: null } }
  } as unknown as JobLister
  const changes = new BulkChanges({
    redis, lister, canceller: {} as JobCanceller, finished: {} as FinishedJobs, mayRun: () => true,
    onError: error => { t.fail(String(error)) }
  })
  t.teardown(() => { changes.stop() })
  const madeBefore = serverTime(redis) + 150
  const begun = await changes.begin({ action: 'cancel', filter: { queue: 'q' }, query: { queue: 'q', limit: 1 }, scope: {}, keyName: 'k' })
  const madeAfter = serverTime(redis)
  if (begun === undefined) return t.fail('it was not begun')
  await waitFor('it is done', async () => (await changes.read(begun.id, {}))?.state === 'done')
  t.equal(asked.length, 2)
  for (const { to = Infinity } of asked) t.ok(madeBefore <= to && to < madeAfter, `${madeBefore} <= ${to} < ${madeAfter}`)
})
