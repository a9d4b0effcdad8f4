import type { JobListQuery } from '@toolyard/contract'
import { BulkChanges, type FinishedJobs, type JobCanceller, type JobLister } from '@toolyard/queue'
import { connectRedis, isConnected, serverTime, type Redis } from '@toolyard/store'
import t, { type Test } from 'tap'
import { connectTo, plainRedis } from '../support/connection.ts'
import { waitFor } from '../support/condition.ts'
import { startRedisProxy, type RedisProxy } from '../support/redis-proxy.ts'
import { startTestRedis, type TestRedis } from '../support/redis.ts'

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

void t.test('a change that is stopped changes no more jobs than it is at', async t => {
  const redis = await connectTo(t, await startTestRedis(t))
  const jobs = Array.from({ length: 30 }, (_, place) => ({ id: `job-${place}`, queue: 'q', status: 'queued' }))
  const lister = {
    count: async () => ({ total: 30, complete: true }),
    list: async () => ({ jobs, nextCursor: null })
  } as unknown as JobLister
  let cancels = 0
  const canceller = {
    cancel: async () => {
      if (++cancels === 10) for (const { id } of await changes.list({})) await changes.halt(id, {})
      return 'cancelled'
    }
  } as unknown as JobCanceller
  const changes = new BulkChanges({
    redis, lister, canceller, finished: {} as FinishedJobs, mayRun: () => true, onError: error => { t.fail(String(error)) }
  })
  t.teardown(() => { changes.stop() })
  const begun = await changes.begin({ action: 'cancel', filter: { queue: 'q' }, query: { queue: 'q', limit: 1 }, scope: {}, keyName: 'k' })
  await waitFor('what it has done is noted', async () => (await changes.read(begun?.id ?? '', {}))?.seen !== 0)
  t.match(await changes.read(begun?.id ?? '', {}), { state: 'stopped', seen: 10, changed: 10 })
  t.equal(cancels, 10)
})

void t.test('a change whose beginning nobody heard of says that it may have begun, and is in the list', async t => {
  const { server, proxy, redis } = await behindProxy(t)
  const direct = await connectTo(t, server)
  const lister = {
    count: async () => ({ total: 0, complete: true }),
    list: async () => ({ jobs: [], nextCursor: null })
  } as unknown as JobLister
  const parts = { lister, canceller: {} as JobCanceller, finished: {} as FinishedJobs, mayRun: () => true, onError: () => {} }
  const changes = new BulkChanges({ ...parts, redis })
  void proxy.breakAt('after', (_name, args) => args.some(arg => arg.endsWith('{bulk}:all')))
  const begun = changes.begin({ action: 'run_again', filter: { queue: 'q' }, query: { queue: 'q', limit: 1 }, scope: {}, keyName: 'k' })
  await t.rejects(begun, { name: 'JobsUnknownError', message: /may have begun: GET \/v1\/bulk lists it/ })
  t.match(await new BulkChanges({ ...parts, redis: direct }).list({}), [{ action: 'run_again', state: 'running' }])
})

void t.test('a change that was begun is told, though Redis breaks off behind that', async t => {
  const { proxy, redis } = await behindProxy(t)
  const lister = {
    count: async () => ({ total: 0, complete: true }),
    list: async () => ({ jobs: [], nextCursor: null })
  } as unknown as JobLister
  const changes = new BulkChanges({
    redis, lister, canceller: {} as JobCanceller, finished: {} as FinishedJobs, mayRun: () => true, onError: () => {}
  })
  t.teardown(() => { changes.stop() })
  void proxy.failWhere('LOADING Redis is loading the dataset in memory', name => name === 'hgetall')
  t.match(await changes.begin({ action: 'run_again', filter: { queue: 'q' }, query: { queue: 'q', limit: 1 }, scope: {}, keyName: 'k' }), { state: 'running', seen: 0 })
  proxy.mend()
})

void t.test('a change begins at once, also where the clock of Redis is set back meanwhile', async t => {
  // It takes the clock of this process for that of Redis.
  const redis = plainRedis(t, await startTestRedis(t)) as unknown as Redis
  const { now } = Date
  t.teardown(() => { Date.now = now })
  const lister = {
    count: async () => {
      Date.now = () => now() - 3_600_000
      return { total: 0, complete: true }
    },
    list: async () => ({ jobs: [], nextCursor: null })
  } as unknown as JobLister
  const changes = new BulkChanges({
    redis, lister, canceller: {} as JobCanceller, finished: {} as FinishedJobs, mayRun: () => true,
    onError: () => {}
  })
  t.teardown(() => { changes.stop() })
  let state: string | undefined
  void changes.begin({ action: 'cancel', filter: { queue: 'q' }, query: { queue: 'q', limit: 1 }, scope: {}, keyName: 'k' }).then(bulk => { state = bulk?.state })
  await waitFor('it is begun', () => state === 'running', 5_000)
})

/** A connection to Redis that a test can break. */
async function behindProxy (t: Test): Promise<{ server: TestRedis, proxy: RedisProxy, redis: Redis }> {
  const server = await startTestRedis(t)
  const proxy = await startRedisProxy(t, { path: server.socket })
  const redis = connectRedis({ place: { kind: 'server', url: proxy.url } }, 'request', () => {})
  t.teardown(() => { redis.disconnect() })
  if (!await isConnected(redis, 5_000)) throw new Error('no connection')
  return { server, proxy, redis }
}
