import { BatchedScript, WaitingTake, eachCall, type Redis } from '@toolyard/queue'
import t from 'tap'
import type { Test } from 'tap'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'

interface Fixture {
  redis: Redis
  /** The reply that a token's holder finds, if there is one. */
  taken: (token: string) => unknown
  /** How old the reply is that a token's holder finds, in milliseconds. */
  ageOf: (token: string) => number | undefined
  /** Waits for the marker, to take what is in `jobs` for this token. */
  wait: (token: string, sec?: number) => Promise<unknown>
  /** Does something else as soon as Redis knows of the wait. */
  whenWaiting: () => Promise<void>
}

/** Answers a job's fields, or 0, and for whom it was taken. */
const script = new BatchedScript('pop', eachCall(`
local job = redis.call('LPOP', KEYS[1])
return {job and {job} or 0, ARGV[1]}
`))

async function open (t: Test): Promise<Fixture> {
  const server = await startTestRedis(t)
  const redis = await connectTo(t, server)
  const waiting = new WaitingTake(await connectTo(t, server))
  return {
    redis,
    taken: token => waiting.taken(token)?.reply,
    ageOf: token => waiting.taken(token)?.ageMs,
    wait: async (token, sec = 60) => {
      waiting.prepare(token, async redis => await script.run(redis, [{ keys: ['jobs'], args: [token] }]))
      return await waiting.wait('marker', sec)
    },
    whenWaiting: async () => { await waitFor('it waits', async () => (await redis.info('clients')).includes('blocked_clients:1')) }
  }
}

t.test('a job is taken in the moment in which the marker comes', async t => {
  const { redis, taken, wait, whenWaiting } = await open(t)
  const waited = wait('a')
  await whenWaiting()
  await redis.rpush('jobs', 'first')
  t.equal(await redis.llen('jobs'), 1, 'without a marker nobody looks')
  await redis.zadd('marker', 0, '0')
  t.equal(await redis.llen('jobs'), 0)
  t.same(await waited, ['marker', '0', '0'])
  t.same(taken('a'), [['first'], 'a'])
})

t.test('what was taken is given once, and to nobody but the one it was taken for', async t => {
  const { redis, taken, wait } = await open(t)
  await redis.rpush('jobs', 'first')
  await redis.zadd('marker', 0, '0')
  await wait('a')
  t.equal(taken('b'), undefined)
  t.same(taken('a'), [['first'], 'a'])
  t.equal(taken('a'), undefined)
})

t.test('what was taken is as old as its wait', async t => {
  const { redis, ageOf, wait, whenWaiting } = await open(t)
  const sentAt = performance.now()
  const waited = wait('a')
  await whenWaiting()
  await redis.rpush('jobs', 'first')
  const addedAt = performance.now()
  await redis.zadd('marker', 0, '0')
  await waited
  const age = ageOf('a') ?? NaN
  t.ok(age >= performance.now() - addedAt - 1 && age <= performance.now() - sentAt + 1, `${age} ms`)
})

t.test('what was taken before the clock was set on is old, though no time has passed', async t => {
  const { redis, ageOf, wait } = await open(t)
  await redis.zadd('marker', 0, '0')
  await redis.rpush('jobs', 'first')
  await wait('a')
  const now = Date.now
  t.teardown(() => { Date.now = now })
  Date.now = () => now() + 5_000
  t.ok((ageOf('a') ?? 0) >= 5_000)
})

t.test('a job is never left behind a marker that tells of a later time', async t => {
  const { redis, taken, wait } = await open(t)
  await redis.rpush('jobs', 'first')
  await redis.zadd('marker', 9_999_999_999_999, '1')
  t.same(await wait('a'), ['marker', '0', '0'])
  t.same(taken('a'), [['first'], 'a'])
})

t.test('with a marker and without a job, the marker and the answer are told', async t => {
  const { redis, taken, wait } = await open(t)
  await redis.zadd('marker', 5, '1')
  t.same(await wait('a'), ['marker', '1', '5'])
  t.same(taken('a'), [0, 'a'])
})

t.test('a wait in vain leaves it to the worker to ask', async t => {
  const { taken, wait } = await open(t)
  t.equal(await wait('a', 0.01), null)
  t.equal(taken('a'), undefined)
})

t.test('a job that came without its marker is found when the wait ends', async t => {
  const { redis, taken, wait, whenWaiting } = await open(t)
  const waited = wait('a', 0.5)
  await whenWaiting()
  await redis.rpush('jobs', 'first')
  t.same(await waited, ['marker', '0', '0'])
  t.same(taken('a'), [['first'], 'a'])
})

t.test('where the job can\'t be taken, the marker is told, and the worker asks', async t => {
  const { redis, taken, wait } = await open(t)
  await redis.set('jobs', 'no list')
  await redis.zadd('marker', 0, '0')
  t.same(await wait('a'), ['marker', '0', '0'])
  t.equal(taken('a'), undefined)
})

t.test('a wait that fails says why', async t => {
  const { redis, taken, wait } = await open(t)
  await redis.set('marker', 'no set')
  await t.rejects(wait('a'), /WRONGTYPE/)
  t.equal(taken('a'), undefined)
})
