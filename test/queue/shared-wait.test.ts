import { openSharedWait, type Marker, type SharedWait } from '@toolyard/queue'
import type { Redis } from '@toolyard/store'
import fc from 'fast-check'
import t from 'tap'
import type { Test } from 'tap'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { startPool } from '../support/pool.ts'
import { startTestRedis, type TestRedis } from '../support/redis.ts'

interface Fixture {
  server: TestRedis
  redis: Redis
  open: () => SharedWait
  errors: Error[]
}

async function start (t: Test): Promise<Fixture> {
  const server = await startTestRedis(t)
  const redis = await connectTo(t, server)
  const errors: Error[] = []
  const open = (): SharedWait => {
    const wait = openSharedWait(redis, error => { errors.push(error) })
    if (wait === undefined) throw new Error('no wait for one server')
    t.teardown(() => { wait.stop() })
    return wait
  }
  return { server, redis, open, errors }
}

async function blocked (redis: Redis): Promise<number> {
  return Number(/blocked_clients:(\d+)/.exec(await redis.info('clients'))?.[1])
}

t.test('a queue that begins to wait while a command runs is answered, over the same connection', async t => {
  const { redis, open, errors } = await start(t)
  const wait = open()
  const first = wait.wait('a', 60)
  await waitFor('the command runs', async () => await blocked(redis) === 1)
  const second = wait.wait('b', 60)
  await redis.zadd('b', 7, 'x')
  t.same(await second, { member: 'x', score: 7 })
  await waitFor('the other wait goes on', async () => await blocked(redis) === 1)
  await redis.zadd('a', 0, '0')
  t.same(await first, { member: '0', score: 0 })
  t.equal(await redis.exists('a', 'b'), 0, 'what woke them is taken')
  t.same(errors, [])
})

t.test('a wait ends after its time, also one that begins while a longer one runs', async t => {
  const { redis, open } = await start(t)
  const wait = open()
  void wait.wait('long', 60)
  await waitFor('the command runs', async () => await blocked(redis) === 1)
  t.equal(await wait.wait('short', 0.05), undefined)
  await waitFor('the long one goes on', async () => await blocked(redis) === 1)
})

t.test('a wait that is left ends at once, and what comes for it goes to others', async t => {
  const { redis, open } = await start(t)
  const [wait, other] = [open(), open()]
  const left = wait.wait('a', 60)
  await waitFor('the command runs', async () => await blocked(redis) === 1)
  wait.leave('a')
  t.equal(await left, undefined)
  const taken = other.wait('a', 60)
  await redis.zadd('a', 3, 'x')
  t.same(await taken, { member: 'x', score: 3 })
})

t.test('waits go on after their connection was killed, and after Redis was away', async t => {
  const { server, redis, open } = await start(t)
  const wait = open()
  const first = wait.wait('a', 60)
  await waitFor('the command runs', async () => await blocked(redis) === 1)
  t.ok(Number(await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')) >= 1)
  await waitFor('it runs again', async () => await blocked(redis) === 1)
  await server.stop()
  await server.start()
  await waitFor('it runs on the new server', async () => await blocked(redis) === 1)
  await redis.zadd('a', 0, '0')
  t.same(await first, { member: '0', score: 0 })
})

t.test('a stop ends all waits, and none begins after it', async t => {
  const { redis, open } = await start(t)
  const wait = open()
  const waits = [wait.wait('a', 60), wait.wait('b', 60)]
  await waitFor('the command runs', async () => await blocked(redis) === 1)
  wait.stop()
  t.same(await Promise.all(waits), [undefined, undefined])
  t.equal(await wait.wait('a', 60), undefined)
  await waitFor('its connection is gone', async () => await blocked(redis) === 0)
})

t.test('no marker is lost, none is taken twice, and none stays while somebody waits for it', async t => {
  const { redis, open, errors } = await start(t)
  const processes = [open(), open()]
  const markers = ['a', 'b', 'c']
  const where = fc.record({ process: fc.nat(1), marker: fc.constantFrom(...markers) })
  const step = fc.oneof(
    fc.record({ kind: fc.constant('wait' as const), at: where, seconds: fc.constantFrom(0.002, 60) }),
    fc.record({ kind: fc.constant('leave' as const), at: where }),
    fc.record({ kind: fc.constant('mark' as const), at: where }),
    fc.record({ kind: fc.constant('pause' as const) })
  )
  let made = 0
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 30 }), async steps => {
    await redis.del(...markers)
    const waiting = new Map<string, string>()
    const taken: string[] = []
    const marked: string[] = []
    for (const move of steps) {
      if (move.kind === 'pause') {
        await redis.ping()
        continue
      }
      const { at: { process, marker } } = move
      const place = `${process} ${marker}`
      if (move.kind === 'mark') {
        marked.push(`m${++made}`)
        await redis.zadd(marker, 0, `m${made}`)
      } else if (move.kind === 'leave') processes[process]?.leave(marker)
      else if (!waiting.has(place)) {
        waiting.set(place, marker)
        void processes[process]?.wait(marker, move.seconds).then((found: Marker | undefined) => {
          waiting.delete(place)
          if (found !== undefined) taken.push(found.member)
        })
      }
    }
    await waitFor('no marker stays while somebody waits for it', async () => {
      for (const marker of new Set(waiting.values())) if (await redis.exists(marker) === 1) return false
      return true
    })
    for (const process of processes) for (const marker of markers) process.leave(marker)
    const left = async (): Promise<string[]> => (await Promise.all(markers.map(async marker => await redis.zrange(marker, '0', '-1')))).flat()
    await waitFor('each is taken, or there', async () => [...taken, ...await left()].length >= marked.length)
    t.strictSame([...taken, ...await left()].sort(), marked.sort())
  }), { numRuns: 60 })
  t.same(errors, [])
})

t.test('a process that serves many queues waits with one connection, and takes the jobs of each', async t => {
  const names = Array.from({ length: 12 }, (_, index) => `q${index}`)
  const ran: string[] = []
  const { redis, queues, add } = await startPool(t, await startTestRedis(t), {
    known: names,
    concurrency: 2,
    handle: async ({ queue }) => {
      ran.push(queue)
      return { kind: 'succeeded', json: '1', value: 1 }
    }
  })
  await waitFor('it waits', async () => await blocked(redis) === 1)
  t.ok(String(await redis.client('LIST')).trim().split('\n').length <= 6, 'it has no connection for each queue')
  for (const name of names) await add(name)
  await waitFor('all have run', () => ran.length === 12)
  t.same([...ran].sort(), [...names].sort())
  // As when a process dies with what woke it.
  await queues.open('q3').pause()
  await add('q3')
  await redis.multi().hdel('toolyard:{q3}:meta', 'paused').del('toolyard:{q3}:marker').exec()
  await waitFor('a worker is woken for a job that nobody was woken for', () => ran.length === 13)
})
