import t from 'tap'
import type { Test } from 'tap'
import { waitFor } from '../support/condition.ts'
import { startPool, type StartedPool } from '../support/pool.ts'
import { startTestRedis } from '../support/redis.ts'

const done = { kind: 'succeeded', json: '1', value: 1 } as const
const others = ['a', 'b', 'c', 'd', 'e', 'f', 'g']

interface Running {
  queue: string
  end: () => void
}

interface Fixture extends StartedPool {
  /** The jobs that run now, the oldest first. */
  running: Running[]
  most: () => number
  /** Those that have ended, in this order, by their queues. */
  ended: string[]
  /** Ends the oldest job that runs. */
  endOne: () => void
  /** Waits until a queue, which has something to take, stands in line: only who stands there puts the marker back. */
  standsInLine: (queue: string) => Promise<void>
}

/** A pool of three places for eight queues, whose jobs run until the test ends them. */
async function start (t: Test): Promise<Fixture> {
  const running: Running[] = []
  const ended: string[] = []
  let most = 0
  const started = await startPool(t, await startTestRedis(t), {
    queues: ['flood', ...others],
    concurrency: 3,
    totalConcurrency: 3,
    handle: async ({ queue, signal }) => {
      await new Promise<void>(resolve => {
        running.push({ queue, end: resolve })
        most = Math.max(most, running.length)
        signal.addEventListener('abort', () => {
          running.splice(running.findIndex(({ end }) => end === resolve), 1)
          resolve()
        })
      })
      if (signal.aborted) return { kind: 'requeued' }
      ended.push(queue)
      return done
    }
  })
  const { redis } = started
  await waitFor('all queues wait', async () => (
    (await redis.info('clients')).includes('blocked_clients:1') && (await redis.keys('toolyard:wait:*')).length === 0
  ))
  return {
    ...started,
    running,
    ended,
    most: () => most,
    endOne: () => { running.shift()?.end() },
    standsInLine: async queue => { await waitFor(`${queue} stands in line`, async () => await redis.exists(`toolyard:{${queue}}:marker`) === 1) }
  }
}

t.test('while one queue is flooded, seven others with one job each are served in turn, and never more jobs run than there are places', async t => {
  const { add, running, ended, endOne, most, pool, standsInLine } = await start(t)
  await add('flood', 100)
  await waitFor('the flood has all places', () => running.length === 3)
  for (const queue of others) await add(queue, 1)
  for (const queue of others) await standsInLine(queue)
  for (let count = 0; count < 3 + others.length; count++) {
    endOne()
    await waitFor('the place is taken again', () => running.length === 3)
  }
  t.same(ended.filter(queue => queue !== 'flood').sort(), others, 'each of them has ended after as many ends as there are queues and places')
  t.equal(most(), 3)
  t.same(pool.places, { used: 3, total: 3, perQueue: 3, allQueues: 3 })
})

t.test('a queue that is paused, and one that has nothing, take no place', async t => {
  const { add, running, endOne, queues, ended, standsInLine } = await start(t)
  await queues.open('a').pause()
  await add('a', 5)
  await add('flood', 9)
  await waitFor('the flood has all places', () => running.length === 3)
  t.same(running.map(({ queue }) => queue), ['flood', 'flood', 'flood'])
  await queues.open('a').resume()
  await standsInLine('a')
  endOne()
  await waitFor('the queue that goes on has a place', () => running.some(({ queue }) => queue === 'a'))
  for (let left = 13; left > 0; left--) {
    await waitFor('one runs', () => running.length > 0)
    endOne()
  }
  await waitFor('all have ended', () => ended.length === 14)
})

t.test('a pool that stops while queues stand in line ends, and leaves their jobs to others', async t => {
  const { add, running, pool, redis, standsInLine } = await start(t)
  await add('flood', 5)
  await waitFor('the flood has all places', () => running.length === 3)
  await add('a', 1)
  await standsInLine('a')
  await pool.stop(0)
  t.equal(await redis.zcard('toolyard:{a}:prioritized'), 1)
  const [active, ready, given] = await Promise.all([redis.llen('toolyard:{flood}:active'), redis.zcard('toolyard:{flood}:prioritized'), redis.llen('toolyard:{flood}:wait')])
  t.same([active, ready + given], [0, 5])
})
