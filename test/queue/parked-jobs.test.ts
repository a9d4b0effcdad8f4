import { JobCanceller } from '@toolyard/queue'
import { alarmsKey, jobKey, newJobId, queueKey, serialKey, tenantLineKey } from '@toolyard/store'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { startPool } from '../support/pool.ts'
import { startTestRedis } from '../support/redis.ts'

const server = await startTestRedis(t)

t.test('a job that parks again while its old alarm is dealt with keeps the new one', async t => {
  const { redis } = await startPool(t, server, { known: ['first'] })
  const key = alarmsKey('first')
  const later = Date.now() + 3_600_000
  const released: unknown[] = []
  const run = redis.eval.bind(redis) as (...args: unknown[]) => Promise<unknown>
  redis.eval = async (...args: unknown[]) => {
    const answer = await run(...args)
    const id = ['parks-again', 'has-ended'].find(each => args.includes(each) && args.some(arg => String(arg).endsWith('waiting-children')))
    if (id === undefined || args.includes(key)) return answer
    released.push(id)
    // It was at work: its worker parks it now.
    if (id === 'parks-again') await redis.zadd(key, later, id)
    return answer
  }
  await redis.zadd(key, 1, 'parks-again', 2, 'has-ended')
  await waitFor('both have been dealt with', async () => released.length >= 2 && await redis.zscore(key, 'has-ended') === null)
  t.same(released, ['parks-again', 'has-ended'])
  t.same(await redis.zrange(key, '0', '-1', 'WITHSCORES'), ['parks-again', String(later)])
})

t.test('a job whose release only a lost master had keeps its alarm, and is released again', async t => {
  const { redis } = await startPool(t, server, { known: ['undone'] })
  const [key, parked] = [alarmsKey('undone'), queueKey('undone', 'waiting-children')]
  let releases = 0
  const run = redis.eval.bind(redis) as (...args: unknown[]) => Promise<unknown>
  redis.eval = async (...args: unknown[]) => {
    const answer = await run(...args)
    if (!args.includes(parked) || args.includes(key) || !args.includes('is-undone')) return answer
    releases += 1
    // The successor has it as it was.
    if (releases === 1) await redis.zadd(parked, 1, 'is-undone')
    return answer
  }
  await redis.zadd(parked, 1, 'is-undone')
  await redis.zadd(key, 1, 'is-undone')
  await waitFor('its alarm is dealt with', async () => await redis.zscore(key, 'is-undone') === null)
  t.strictSame([releases, await redis.zscore(parked, 'is-undone')], [2, null])
})

t.test('jobs that wait for a place of their tenant sleep until one is free, and come in their order', async t => {
  const order: string[] = []
  let end = (): void => {}
  const { redis, queues } = await startPool(t, server, {
    concurrency: 8,
    maxRunning: () => 1,
    handle: async ({ id }) => {
      order.push(id)
      await new Promise<void>(resolve => { end = resolve })
      return { kind: 'succeeded', json: '1', value: 1 }
    }
  })
  const ids = Array.from({ length: 30 }, () => newJobId())
  const data = { tool: 'x', arguments: {}, timeoutSec: 1, tags: [], keyName: 'k', tenant: 'acme' }
  for (const id of ids) await queues.add('places', [{ id, type: 'x', data }])
  const line = tenantLineKey('acme')
  for (let waiting = ids.length - 1; waiting >= 0; waiting--) {
    await waitFor(`${waiting} wait`, async () => order.length === ids.length - waiting && await redis.zcard(line) === waiting)
    end()
  }
  await waitFor('all have ended', async () => await redis.zcard('toolyard:{places}:completed') === ids.length)
  t.same(order, ids)
  const givenBack = await Promise.all(ids.map(async id => Number(await redis.hget(jobKey('places', id), 'givenBack'))))
  t.ok(Math.max(...givenBack) <= 2, `put back ${Math.max(...givenBack)} times`)
})

t.test('jobs that are cancelled leave the lines in which they waited: nobody behind them waits until each was looked at', async t => {
  let end = (): void => {}
  const { redis, queues } = await startPool(t, server, {
    concurrency: 8,
    maxRunning: () => 1,
    handle: async () => {
      await new Promise<void>(resolve => { end = resolve })
      return { kind: 'succeeded', json: '1', value: 1 }
    }
  })
  const canceller = new JobCanceller(redis, queues)
  const lines = { tenant: tenantLineKey('acme'), serial: serialKey('one', 'line') }
  for (const [kind, line] of Object.entries(lines)) {
    const owner = kind === 'tenant' ? { tenant: 'acme' } : { serial: true as const }
    const data = { tool: 'one', arguments: {}, timeoutSec: 1, tags: [], keyName: 'k', ...owner }
    const ids = Array.from({ length: 30 }, () => newJobId())
    for (const id of ids) await queues.add('lines', [{ id, type: 'x', data }])
    await waitFor('the others wait', async () => await redis.zcard(line) === ids.length - 1)
    for (const id of ids.slice(1)) t.equal(await canceller.cancel('lines', id), 'cancelled')
    t.same(await redis.zrange(line, '0', '-1'), [], kind)
    end()
    await waitFor('the first one has ended', async () => await redis.zscore('toolyard:{lines}:completed', ids[0] ?? '') !== null)
  }
})

t.test('a job is cancelled though it takes long to release the jobs that wait for it', async t => {
  const { redis, queues } = await startPool(t, server, { queues: [] })
  const smembers = redis.smembers.bind(redis)
  // Those of ten thousand jobs are looked at one after the other.
  redis.smembers = async (...args: Parameters<typeof smembers>) => String(args[0]).endsWith(':dependents') ? await new Promise(() => {}) : await smembers(...args)
  const id = newJobId()
  await queues.add('waited-for', [{ id, type: 'x', data: { tool: 'x', arguments: {}, timeoutSec: 1, tags: [], keyName: 'k' } }])
  t.equal(await new JobCanceller(redis, queues).cancel('waited-for', id), 'cancelled')
})

t.test('the arguments of a job that waits for others are read once, however often somebody looks whether it may run', async t => {
  const { redis, queues } = await startPool(t, server, { known: ['needs'] })
  const [first, second] = [newJobId(), newJobId()]
  const job = jobKey('needs', second)
  let [looks, reads] = [0, 0]
  const [hget, hmget] = [redis.hget.bind(redis), redis.hmget.bind(redis) as (...args: unknown[]) => Promise<Array<string | null>>]
  redis.hget = async (...args: Parameters<typeof hget>) => {
    if (args[0] === job && args[1] === 'data') reads += 1
    return await hget(...args)
  }
  redis.hmget = async (...args: unknown[]) => {
    if (args[0] === job) looks += 1
    if (args[0] === job && args.includes('data')) reads += 1
    return await hmget(...args)
  }
  const data = { tool: 'x', arguments: { pad: 'x'.repeat(100_000) }, timeoutSec: 1, tags: [], keyName: 'k' }
  await queues.add('needs', [{ id: first, type: 'x', data, delayMs: 3_600_000 }])
  await queues.add('needs', [{ id: second, type: 'x', data: { ...data, dependsOn: [{ id: first, queue: 'needs' }] } }])
  await waitFor('it was looked at some times', () => looks >= 6)
  t.equal(reads, 1)
  await redis.hset(jobKey('needs', first), { finishedOn: '1', returnvalue: '{"kind":"inline","json":"1"}' })
  await redis.zadd('toolyard:{needs}:completed', 1, first)
  await waitFor('it goes on', async () => await redis.zscore('toolyard:{needs}:waiting-children', second) === null)
})

t.test('a look at a job that waits for a hundred others asks for all of them at once', async t => {
  const { redis, queues } = await startPool(t, server, { known: ['many'] })
  const data = { tool: 'x', arguments: {}, timeoutSec: 1, tags: [], keyName: 'k' }
  const others = Array.from({ length: 100 }, () => newJobId())
  await queues.add('many', others.map(id => ({ id, type: 'x', data, delayMs: 3_600_000 })))
  const id = newJobId()
  await queues.add('many', [{ id, type: 'x', data: { ...data, dependsOn: others.map(other => ({ id: other, queue: 'many' })) } }])
  let [looks, asked] = [0, 0]
  const [hget, hmget] = [redis.hget.bind(redis), redis.hmget.bind(redis) as (...args: unknown[]) => Promise<Array<string | null>>]
  redis.hget = async (...args: Parameters<typeof hget>) => {
    if (args[0] === jobKey('many', id) && args[1] === 'seen') looks += 1
    return await hget(...args)
  }
  redis.hmget = async (...args: unknown[]) => {
    if (others.some(other => args[0] === jobKey('many', other))) asked += 1
    return await hmget(...args)
  }
  await waitFor('it was looked at twice', () => looks >= 2, 20_000)
  t.equal(asked, 0)
  for (const other of others) {
    await redis.hset(jobKey('many', other), { finishedOn: '1', returnvalue: '{"kind":"inline","json":"1"}' })
    await redis.zadd('toolyard:{many}:completed', 1, other)
  }
  await waitFor('it goes on', async () => await redis.zscore('toolyard:{many}:waiting-children', id) === null)
})
