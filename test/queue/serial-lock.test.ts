import { JobCanceller, JobQueues, QueueDirectory, WorkerPool, type TakenJob } from '@toolyard/queue'
import { newJobId, serialKey, type Redis } from '@toolyard/store'
import fc from 'fast-check'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'
import { monitorRedis } from '../support/redis-monitor.ts'
import { untilLate } from '../support/until-late.ts'

const server = await startTestRedis(t)
const redis = await connectTo(t, server)
const retention = { ageSec: 3_600, count: 10_000 }
const queues = new JobQueues(redis, new QueueDirectory(redis, 1_000), retention)
const canceller = new JobCanceller(redis, queues)
t.teardown(() => queues.close())

/** A call comes, is cancelled, a queue is paused or goes on, time passes. */
type Event =
  | { kind: 'add', queue: number, ms: number, delayMs: number }
  | { kind: 'cancel', which: number }
  | { kind: 'pause' | 'resume', queue: number }
  | { kind: 'pass', ms: number }

const queue = fc.nat(2)
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('add' as const), queue, ms: fc.nat(30), delayMs: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat(300)) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('pause' as const, 'resume' as const), queue }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(100) }) }
)
let rounds = 0

interface Run { id: string, queue: string, running: number }

/** Runs what happens against two pools; answers the runs in their order, and which calls were never delayed. */
async function play (events: readonly Event[], pauses: boolean): Promise<{ runs: Run[], prompt: Set<string> }> {
  const round = ++rounds
  const name = (index: number): string => `r${round}-${index}`
  const runs: Run[] = []
  let running = 0
  const handle = async (job: TakenJob): ReturnType<ConstructorParameters<typeof WorkerPool>[0]['handle']> => {
    running++
    runs.push({ id: job.id, queue: job.queue, running })
    await delay(Number(job.data.arguments['ms']), undefined, { signal: job.signal }).catch(() => {})
    running--
    return { kind: 'succeeded', json: '1', value: 1 }
  }
  const pools = await Promise.all([1, 2].map(async () => new WorkerPool({
    redis: await connectTo(t, server),
    subscriber: await connectTo(t, server, 'subscriber'),
    retention,
    queues: [0, 1, 2].map(name),
    concurrency: 2,
    handle,
    // A worker that is about to settle a job when it is cancelled finds that it has lost it, or that the canceller holds it.
    onError: error => { if (!/Missing lock|Lock mismatch|not in the active state|could not renew lock/i.test(error.message)) t.error(error) }
  })))
  await Promise.all(pools.map(pool => pool.start()))
  const added: Array<{ id: string, queue: string, delayMs: number }> = []
  for (const happens of events) {
    if (happens.kind === 'add') {
      const job = { id: newJobId(), queue: name(happens.queue), delayMs: happens.delayMs }
      added.push(job)
      await queues.add(job.queue, [{ id: job.id, type: `x.${round}`, delayMs: job.delayMs, data: { tool: `x${round}`, serial: true, arguments: { ms: happens.ms }, timeoutSec: 10, tags: [], keyName: 'k' } }])
    } else if (happens.kind === 'cancel') {
      const job = added[happens.which]
      if (job !== undefined) await canceller.cancel(job.queue, job.id)
    } else if (happens.kind === 'pass') await delay(happens.ms)
    else if (pauses) await (happens.kind === 'pause' ? queues.open(name(happens.queue)).pause() : queues.open(name(happens.queue)).resume())
  }
  for (const index of [0, 1, 2]) await queues.open(name(index)).resume()
  for (const { id, queue } of added) await waitFor(`job ${id} has ended`, async () => await redis.hexists(`toolyard:{${queue}}:${id}`, 'finishedOn') === 1, 20_000)
  await Promise.all(pools.map(pool => pool.stop(1_000)))
  return { runs, prompt: new Set(added.filter(job => job.delayMs === 0).map(job => job.id)) }
}

t.test('P22 whatever is added, cancelled and paused, one call runs at a time, each runs once, and all end', { timeout: 200_000 }, async t => {
  await t.resolves(fc.assert(fc.asyncProperty(fc.array(event, { minLength: 5, maxLength: 30 }), untilLate(60_000, async events => {
    const { runs } = await play(events, true)
    return runs.every(run => run.running === 1) && new Set(runs.map(run => run.id)).size === runs.length
  })), { numRuns: 8 }))
})

t.test('X17 the calls of each queue run in the order of their arrival', { timeout: 200_000 }, async t => {
  await t.resolves(fc.assert(fc.asyncProperty(fc.array(event, { minLength: 5, maxLength: 30 }), untilLate(60_000, async events => {
    const { runs, prompt } = await play(events, false)
    return [0, 1, 2].every(index => {
      const ids = runs.filter(run => run.queue.endsWith(`-${index}`) && prompt.has(run.id)).map(run => run.id)
      return ids.every((id, place) => place === 0 || (ids[place - 1] ?? '') < id)
    })
  })), { numRuns: 8 }))
})

t.test('X17 the earlier of two calls runs first, wherever its worker is held up before it runs', async t => {
  let isReached = true
  for (let place = 1; isReached; place++) {
    isReached = false
    const queue = `held-${place}`
    const runs: string[] = []
    const ids = [newJobId(), newJobId()] as const
    const hasCome = async (id: string): Promise<boolean> => runs.includes(id) || await redis.zscore(`toolyard:{${queue}}:delayed`, id) !== null
    const start = async (connection: Redis): Promise<WorkerPool> => {
      const pool = new WorkerPool({
        redis: connection,
        subscriber: await connectTo(t, server, 'subscriber'),
        retention,
        queues: [queue],
        concurrency: 1,
        handle: async job => {
          runs.push(job.id)
          return { kind: 'succeeded', json: '1', value: 1 }
        },
        onError: error => { t.error(error) }
      })
      await pool.start()
      return pool
    }
    const add = async (id: string): Promise<void> => {
      await queues.add(queue, [{ id, type: `x.${queue}`, data: { tool: queue, serial: true, arguments: {}, timeoutSec: 10, tags: [], keyName: 'k' } }])
    }
    const held = await connectTo(t, server)
    const first = await start(held)
    let scripts = 0
    const runScript = held.eval.bind(held) as (...args: unknown[]) => Promise<unknown>
    const holdUp = async (...args: unknown[]): Promise<unknown> => {
      if (runs.length === 0 && ++scripts === place) {
        isReached = true
        await waitFor('the later call has come', async () => await hasCome(ids[1]))
      }
      return await runScript(...args)
    }
    Object.assign(held, { eval: holdUp })
    await add(ids[0])
    await waitFor('the worker is held up, or has run the call', () => isReached || runs.length > 0)
    const second = await start(await connectTo(t, server))
    await add(ids[1])
    await waitFor('both calls have run', () => runs.length === 2)
    t.same(runs, ids, `held up before script ${place}`)
    await Promise.all([first.stop(1_000), second.stop(1_000)])
  }
})

t.test('a tenant whose calls of a serial tool wait in their hundreds holds up its own: another one has its turn', async t => {
  const [queue, many] = ['shared', 200]
  const runs: string[] = []
  const pool = new WorkerPool({
    redis: await connectTo(t, server),
    subscriber: await connectTo(t, server, 'subscriber'),
    retention,
    queues: [queue],
    concurrency: 4,
    handle: async ({ data }) => {
      runs.push(data.tenant ?? '')
      await delay(20)
      return { kind: 'succeeded', json: '1', value: 1 }
    },
    onError: error => { t.error(error) }
  })
  await pool.start()
  const add = async (tenant: string, count: number): Promise<void> => {
    const data = { tool: queue, serial: true as const, arguments: {}, timeoutSec: 10, tags: [], keyName: 'k', tenant }
    await queues.add(queue, Array.from({ length: count }, () => ({ id: newJobId(), type: `x.${queue}`, data })))
  }
  await add('noisy', many)
  await waitFor('its calls wait in the line', async () => await redis.zcard(`toolyard:serial:{${queue}}:line`) > many / 2)
  const before = runs.length
  await add('quiet', 3)
  await waitFor('the calls of the other tenant have run', () => runs.filter(tenant => tenant === 'quiet').length === 3, 60_000)
  // Each waits for the call that runs, and for one more while a worker takes it.
  t.ok(runs.length - before < many / 4, `${runs.length - before} calls ran meanwhile`)
  await waitFor('all have run', () => runs.length === many + 3, 60_000)
  await pool.stop(1_000)
})

t.test('a queue whose thousands of calls wait for a serial tool is put behind the others, and back, by many short commands', async t => {
  const [tool, queue, many] = ['away', 'away', 3_000]
  const [line, gate] = [serialKey(tool, 'line'), serialKey(tool, 'gate')]
  const members = Array.from({ length: many }, (_, at) => `0197c9a5-0000-7000-8000-${String(at).padStart(12, '0')}|${queue}`)
  const first = members[0] ?? ''
  // It was called long ago, and has not come.
  await redis.hset(`toolyard:{${queue}}:${first.split('|')[0]}`, { timestamp: 1 })
  await redis.zadd(line, ...members.flatMap(member => ['2', member]))
  await redis.hset(gate, { 'owner:k': 1, owners: 1, called: first, calledAt: 1 })
  await redis.zadd(serialKey(tool, 'turns'), 0, 'k')
  let [moved, most] = [0, 0]
  await monitorRedis(t, server.socket, ([command = '', key = '']) => {
    if (/^eval/i.test(command)) moved = 0
    if (/^zadd$/i.test(command) && key === line) most = Math.max(most, ++moved)
  })
  await redis.sadd('toolyard:serial-tools', tool)
  const pool = new WorkerPool({ redis: await connectTo(t, server), subscriber: await connectTo(t, server, 'subscriber'), retention, queues: [queue], concurrency: 1, handle: async () => ({ kind: 'succeeded', json: '1', value: 1 }), onError: error => { t.error(error) } })
  await pool.start()
  await waitFor('they are behind', async () => await redis.zcount(line, '3', '3') === many, 20_000)
  await queues.add(queue, [{ id: newJobId(), type: 'x', data: { tool, serial: true, arguments: {}, timeoutSec: 1, tags: [], keyName: 'k' } }])
  await waitFor('they are back, as one of the queue has come', async () => await redis.zcount(line, '2', '2') > many, 20_000)
  await pool.stop(0)
  t.ok(most > 0 && most < many / 2, `${most} by one command`)
  await redis.del(line, gate, serialKey(tool, 'turns'))
})

t.test('nothing of a serial tool is left when its queues are forgotten', async t => {
  const directory = new QueueDirectory(redis, 1_000)
  const pool = new WorkerPool({ redis: await connectTo(t, server), subscriber: await connectTo(t, server, 'subscriber'), retention, queues: ['*'], concurrency: 1, handle: async () => ({ kind: 'succeeded', json: '1', value: 1 }), onError: error => { t.error(error) } })
  await pool.start()
  for (const queue of await directory.list()) await directory.forget(queue)
  const left = async (): Promise<string[]> => await redis.keys('toolyard:serial*')
  await waitFor('all is gone', async () => (await left()).length === 0, 10_000)
  await pool.stop(0)
  t.same(await left(), [])
})
