import { JobQueues, QueueDirectory, WorkerPool } from '@toolyard/queue'
import { newJobId, serialKey } from '@toolyard/store'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'

/* Calls of a serial tool that were called when it was their turn, and don't come. */

const server = await startTestRedis(t)
const redis = await connectTo(t, server)
const retention = { ageSec: 3_600, count: 10_000 }
const queues = new JobQueues(redis, new QueueDirectory(redis, 1_000), retention)
t.teardown(() => queues.close())

type Add = (call: string, tenant: string, rest?: { serial?: true, priority?: number }) => Promise<void>

interface Obstacle {
  maxRunning?: number
  priority?: number
  /** Keeps the call in line from coming. @returns how that ends */
  begin: (add: Add, ended: readonly string[]) => Promise<() => Promise<void>>
}

/** Two tenants of one queue: `full` has a call in line that does not come when it is called, and `other` wants its turn. */
async function standStill (t: Test, name: string, { maxRunning = 0, priority, begin }: Obstacle): Promise<void> {
  const ended: string[] = []
  const go = new Set<string>()
  const pool = new WorkerPool({
    redis: await connectTo(t, server),
    subscriber: await connectTo(t, server, 'subscriber'),
    retention,
    queues: [name],
    concurrency: 2,
    maxRunning: tenant => tenant === 'full' ? maxRunning : 0,
    handle: async ({ data: { arguments: args } }) => {
      const call = String(args['call'])
      await (call === 'busy' ? delay(50) : waitFor(`${call} may end`, () => go.has(call), 60_000))
      ended.push(call)
      return { kind: 'succeeded', json: '1', value: 1 }
    },
    onError: error => { t.error(error) }
  })
  await pool.start()
  const add: Add = async (call, tenant, rest = {}) => {
    const { serial, ...more } = rest
    const data = { tool: name, ...serial === true && { serial }, arguments: { call }, timeoutSec: 60, tags: [], keyName: 'k', tenant }
    await queues.add(name, [{ id: newJobId(), type: `${serial === true ? 'serial' : 'plain'}.${name}`, ...more, data }])
  }
  await add('first', 'other', { serial: true })
  await waitFor('it has the tool', async () => await redis.hexists(serialKey(name, 'gate'), 'holder') === 1)
  await add('in line', 'full', { serial: true, ...priority !== undefined && { priority } })
  await waitFor('it is in line', async () => await redis.zcard(serialKey(name, 'line')) === 1)
  const end = await begin(add, ended)
  await add('next', 'other', { serial: true })
  for (const call of ['first', 'next']) go.add(call)
  await waitFor('the other tenant has its turn', () => ended.includes('next'), 20_000)
  t.notOk(ended.includes('in line'))
  for (const call of ['long', 'in line']) go.add(call)
  await end()
  await waitFor('the call in line has run', () => ended.includes('in line'), 20_000)
  await pool.stop(1_000)
}

t.test('a call of a serial tool that its tenant has no place for holds up no call of another tenant', async t => {
  await standStill(t, 'places', { maxRunning: 1, begin: async add => {
    await add('long', 'full')
    await waitFor('it runs', async () => await redis.zcard('toolyard:running:full') === 1)
    return async () => {}
  } })
})

t.test('a call of a serial tool that others of its tenant go before holds up no call of another tenant', async t => {
  await standStill(t, 'priorities', { priority: 0, begin: async (add, ended) => {
    const over = new AbortController()
    let added = 0
    const flood = (async () => {
      while (!over.signal.aborted) {
        while (added - ended.filter(call => call === 'busy').length < 20) {
          await add('busy', 'full')
          added++
        }
        await delay(10)
      }
    })()
    return async () => {
      over.abort()
      await flood
    }
  } })
})

t.test('calls of a tenant that have left the line for want of a place run in the order of their arrival, wherever the worker of the first is held up', async t => {
  const name = 'order'
  const [first, second] = [newJobId(), newJobId()]
  const runs: string[] = []
  const go = new Set<string>()
  const connection = await connectTo(t, server)
  const runScript = connection.eval.bind(connection) as (...args: unknown[]) => Promise<unknown>
  const inLine = async (id: string): Promise<boolean> => await redis.zscore(serialKey(name, 'line'), `${id}|${name}`) !== null
  const isParked = async (id: string): Promise<boolean> => await redis.zscore(`toolyard:{${name}}:delayed`, id) !== null
  let isHeldUp = false
  const holdUp = async (...args: unknown[]): Promise<unknown> => {
    if (isHeldUp && args.includes(`${first}|${name}`)) {
      isHeldUp = false
      await waitFor('the later call has run, or waits in the line', async () => runs.includes(second) || (await inLine(second) && await isParked(second)))
    }
    return await runScript(...args)
  }
  Object.assign(connection, { eval: holdUp })
  const pool = new WorkerPool({
    redis: connection,
    subscriber: await connectTo(t, server, 'subscriber'),
    retention,
    queues: [name],
    concurrency: 4,
    maxRunning: tenant => tenant === 'full' ? 2 : 0,
    handle: async ({ id, data }) => {
      const call = String(data.arguments['call'])
      if (call !== '') await waitFor(`${call} may end`, () => go.has(call), 60_000)
      runs.push(id)
      return { kind: 'succeeded', json: '1', value: 1 }
    },
    onError: error => { t.error(error) }
  })
  await pool.start()
  const add = async (id: string, call: string, tenant: string, isSerial = true): Promise<void> => {
    const data = { tool: name, ...isSerial && { serial: true as const }, arguments: { call }, timeoutSec: 60, tags: [], keyName: 'k', tenant }
    await queues.add(name, [{ id, type: `${isSerial ? 'serial' : 'plain'}.${name}`, data }])
  }
  await add(newJobId(), 'holder', 'other')
  await waitFor('it has the tool', async () => await redis.hexists(serialKey(name, 'gate'), 'holder') === 1)
  for (const id of [first, second]) await add(id, '', 'full')
  await waitFor('both are in line', async () => await redis.zcard(serialKey(name, 'line')) === 2)
  for (const call of ['long', 'longer']) await add(newJobId(), call, 'full', false)
  await waitFor('its places are taken', async () => await redis.zcard('toolyard:running:full') === 2)
  go.add('holder')
  await waitFor('both have left the line', async () => await redis.zcard(serialKey(name, 'line')) === 0)
  isHeldUp = true
  for (const call of ['long', 'longer']) go.add(call)
  await waitFor('both have run', () => runs.includes(first) && runs.includes(second), 20_000)
  t.same(runs.filter(id => id === first || id === second), [first, second])
  await pool.stop(1_000)
})
