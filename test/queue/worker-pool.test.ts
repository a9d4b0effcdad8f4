import type { TakenJob, WorkerPoolOptions } from '@toolyard/queue'
import { newJobId, type Redis } from '@toolyard/store'
import { once } from 'node:events'
import t from 'tap'
import type { Test } from 'tap'
import { waitFor } from '../support/condition.ts'
import { startPool, type PoolWishes, type StartedPool } from '../support/pool.ts'
import { startTestRedis } from '../support/redis.ts'

const done = { kind: 'succeeded', json: '1', value: 1 } as const

interface Fixture extends Omit<StartedPool, 'add'> {
  /** Adds so many jobs, in one go. */
  add: (count: number) => Promise<string>
  ended: () => Promise<number>
  /** Resolves when the pool waits for a job. */
  isWaiting: () => Promise<void>
}

/** A pool that serves the queue `q` with three places. */
async function start (
  t: Test, handle: (redis: Redis, job: TakenJob) => ReturnType<WorkerPoolOptions['handle']>, wishes: PoolWishes = {}
): Promise<Fixture> {
  const server = await startTestRedis(t)
  const started: StartedPool = await startPool(t, server, { queues: ['q'], concurrency: 3, handle: job => handle(started.redis, job), ...wishes })
  const { redis, add } = started
  return {
    ...started,
    isWaiting: async () => { await waitFor('it waits', async () => (await redis.info('clients')).includes('blocked_clients:1')) },
    add: count => add('q', count),
    ended: async () => await redis.zcard('toolyard:{q}:completed')
  }
}

t.test('a worker runs its job before it looks for another one', async t => {
  const waiting: number[] = []
  const { add, ended } = await start(t, async redis => {
    waiting.push(await redis.zcard('toolyard:{q}:prioritized'))
    return done
  })
  await add(3)
  await waitFor('all have ended', async () => await ended() === 3)
  t.equal(waiting[0], 2)
})

t.test('as many jobs run at once as there are places, and never more', async t => {
  let running = 0
  let most = 0
  const held: Array<() => void> = []
  const { add, ended } = await start(t, async () => {
    most = Math.max(most, ++running)
    await new Promise<void>(resolve => held.push(resolve))
    running--
    return done
  })
  await add(10)
  for (let count = 0; count < 10; count++) {
    await waitFor('all places are taken', () => running === Math.min(3, 10 - count))
    held.shift()?.()
    await waitFor('one more has ended', async () => await ended() === count + 1)
  }
  t.equal(most, 3)
})

t.test('a worker that may not take jobs, because of a rate limit, can do everything else', async t => {
  const { add, ended, queues, redis } = await start(t, async () => done)
  await queues.open('q').setGlobalRateLimit(1, 3_600_000)
  await add(3)
  await waitFor('one has ended', async () => await ended() === 1)
  t.equal(await ended(), 1)
  await queues.open('q').removeGlobalRateLimit()
  await redis.del('toolyard:{q}:limiter')
})

t.test('a finished job whose outcome Redis refuses is not run again though it has attempts left', async t => {
  let runs = 0
  const id = newJobId()
  const { queues, redis } = await start(t, async redis => {
    runs += 1
    await redis.set(`toolyard:{q}:${id}:dependencies`, 'no set')
    return done
  }, { onError: error => { t.match(error, { message: /WRONGTYPE/ }) } })
  await queues.add('q', [{ id, type: 'x', maxAttempts: 3, data: { tool: 'x', arguments: {}, timeoutSec: 1, tags: [], keyName: 'k' } }])
  await waitFor('it has failed', async () => await redis.zcard('toolyard:{q}:failed') === 1)
  t.match(await redis.hget(`toolyard:{q}:${id}`, 'failedReason'), /its outcome could not be stored: WRONGTYPE/)
  t.equal(runs, 1)
})

t.test('a job that a waiting worker took and ran has one attempt in its record', async t => {
  const { add, ended, queues, redis, isWaiting } = await start(t, async () => done)
  await isWaiting()
  const id = await addLost({ add, redis, queues }, { ats: 1, unbegun: 1 })
  await waitFor('it has ended', async () => await ended() === 1)
  t.same(await redis.hmget(`toolyard:{q}:${id}`, 'ats', 'unbegun'), ['1', null])
})

t.test('a long run is noted as begun, whatever its tool is', async t => {
  const held: Array<() => void> = []
  const { add, ended, queues, redis, isWaiting } = await start(t, async () => {
    await new Promise<void>(resolve => held.push(resolve))
    return done
  })
  await isWaiting()
  const id = await addLost({ add, redis, queues }, { stc: 0 })
  await waitFor('it runs', () => held.length === 1)
  await waitFor('it is noted', async () => await redis.hexists(`toolyard:{q}:${id}`, 'unbegun') === 0)
  t.equal(await ended(), 0, 'while it runs')
  held[0]?.()
  await waitFor('it has ended', async () => await ended() === 1)
})

t.test('a job that is being given back is not counted as run, though its run is noted as begun', async t => {
  const runs: unknown[] = []
  const { add, ended, isWaiting } = await start(t, async (redis, job) => {
    const key = `toolyard:{q}:${job.id}`
    await redis.hset(key, 'ats', 0)
    await job.begin()
    runs.push(...await redis.hmget(key, 'ats', 'unbegun'))
    return done
  })
  await isWaiting()
  await add(1)
  await waitFor('it has ended', async () => await ended() === 1)
  t.same(runs, ['0', null])
})

t.test('a worker that lost a job does not change how often the job counts as run', async t => {
  const id = newJobId()
  const errors: string[] = []
  const { queues, redis, isWaiting } = await start(t, async redis => {
    // First of all: a run that lasts is noted as begun by who holds it.
    await redis.set(`toolyard:{q}:${id}:lock`, 'another')
    await redis.hset(`toolyard:{q}:${id}`, 'ats', 5)
    return { kind: 'later', reason: 'as a test' }
  }, { onError: error => { errors.push(error.message) } })
  await isWaiting()
  await queues.add('q', [{ id, type: 'x', data: { tool: 'x', arguments: {}, timeoutSec: 1, tags: [], keyName: 'k' } }])
  await waitFor('it was told', () => errors.length > 0)
  t.match(errors[0], /Lock mismatch/)
  t.equal(await redis.hget(`toolyard:{q}:${id}`, 'ats'), '5')
})

/** A job's record says how often it was taken, and whether a run may have begun; another worker has died with it then. */
async function addLost ({ add, redis, queues }: Pick<Fixture, 'add' | 'redis' | 'queues'>, fields: Record<string, number>): Promise<string> {
  await queues.open('q').pause()
  const id = await add(1)
  await redis.hset(`toolyard:{q}:${id}`, fields)
  await queues.open('q').resume()
  return id
}

t.test('a job whose worker was lost before the run began does not count as run', async t => {
  const seen: boolean[] = []
  const { add, ended, queues, redis, isWaiting } = await start(t, async (_redis, job) => {
    seen.push(job.lostBefore, await job.begin())
    return done
  })
  await isWaiting()
  const id = await addLost({ add, redis, queues }, { ats: 1, unbegun: 1 })
  await waitFor('it has ended', async () => await ended() === 1)
  t.same(seen, [false, true])
  t.same(await redis.hmget(`toolyard:{q}:${id}`, 'ats', 'unbegun'), ['1', null])
})

t.test('a job whose worker was lost after the run began counts as run, whichever worker takes it', async t => {
  const seen: boolean[] = []
  const { add, ended, queues, redis, isWaiting } = await start(t, async (_redis, job) => {
    seen.push(job.lostBefore)
    return done
  })
  await isWaiting()
  const id = await addLost({ add, redis, queues }, { ats: 1 })
  await waitFor('it has ended', async () => await ended() === 1)
  t.same(seen, [true])
  t.equal(await redis.hget(`toolyard:{q}:${id}`, 'unbegun'), null)
})

t.test('a worker does not begin a job whose lock another worker has by then', async t => {
  const begun: boolean[] = []
  const { add, isWaiting, redis } = await start(t, async (redis, job) => {
    await redis.set(`toolyard:{q}:${job.id}:lock`, 'another')
    begun.push(await job.begin())
    return { kind: 'taken' }
  })
  await isWaiting()
  await add(1)
  await waitFor('it was left', () => begun.length === 1)
  await isWaiting()
  t.same(begun, [false])
  t.equal(await redis.llen('toolyard:{q}:active'), 1)
})

t.test('no lock counts as lost when jobs are given back while it is renewed', async t => {
  let running = 0
  const { add, redis, pool } = await start(t, async (_redis, { signal }) => {
    running++
    await once(signal, 'abort')
    return { kind: 'requeued' }
  })
  await add(3)
  await waitFor('they run', () => running === 3)
  const renewals = async (): Promise<number> => Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1])
  const before = await renewals()
  await waitFor('their locks have been renewed', async () => await renewals() > before)
  // Redis takes what gives them back, and the renewal behind it, when the pause is over, and answers both at once.
  await redis.client('PAUSE', 2_000, 'WRITE')
  await pool.stop(0)
  t.equal(await redis.llen('toolyard:{q}:active'), 0)
})
