import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { startPool } from '../support/pool.ts'
import { startTestRedis } from '../support/redis.ts'

t.test('a job whose run is lost again and again in a worker that lives on runs three times, each time later, and is given up', async t => {
  const begun: number[] = []
  const { add, redis } = await startPool(t, await startTestRedis(t), {
    handle: async () => {
      begun.push(performance.now())
      return await Promise.resolve({ kind: 'requeued' })
    }
  })
  const id = await add('q')
  await waitFor('it has failed', async () => await redis.zscore('toolyard:{q}:failed', id) !== null)
  const [first = 0, second = 0, third = 0, ...more] = begun
  t.same(more, [])
  // Pauses of 200 and 400 ms, less what a time in whole milliseconds leaves out.
  t.ok(second - first >= 195, `${second - first} ms`)
  t.ok(third - second >= 395, `${third - second} ms`)
  t.match(await redis.hget(`toolyard:{q}:${id}`, 'failedReason'), 'stalled more than allowable')
})

t.test('a worker that may take no jobs leaves them until it may', async t => {
  let mayTake = false
  const runs: string[] = []
  const { add, redis } = await startPool(t, await startTestRedis(t), {
    known: ['q'],
    mayTake: () => mayTake,
    handle: async job => {
      runs.push(job.id)
      return await Promise.resolve({ kind: 'succeeded', json: '1', value: 1 })
    }
  })
  const id = await add('q')
  await waitFor('it waits', async () => await redis.zscore('toolyard:{q}:prioritized', id) !== null)
  t.same(runs, [])
  mayTake = true
  await waitFor('it runs', () => runs.includes(id))
})
