import { JobQueues, QueueDirectory } from '@toolyard/queue'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { startPool } from '../support/pool.ts'
import { monitorRedis } from '../support/redis-monitor.ts'
import { startTestRedis } from '../support/redis.ts'

const machineTime = Date.now

for (const shiftMs of [-600_000, -4_000, 0, 4_000, 600_000]) {
  t.test(`a job that is delayed by a worker whose clock is ${shiftMs / 1_000} s off is due by Redis' clock`, async t => {
    t.teardown(() => { Date.now = machineTime })
    let [running, puttingOff] = [0, true]
    let free: () => void = () => {}
    const held = new Promise<void>(resolve => { free = resolve })
    const { redis, queues } = await startPool(t, await startTestRedis(t), {
      concurrency: 5,
      handle: async ({ data }) => {
        if (data.serial === true) {
          running++
          await held
        } else if (puttingOff) return { kind: 'later', reason: 'not now' }
        return { kind: 'succeeded', json: '1', value: 1 }
      }
    })
    // The time of Redis is known by then.
    await redis.ping()
    Date.now = () => machineTime() + shiftMs
    const add = async (serial: boolean): Promise<string> => {
      const id = queues.newId()
      await queues.add('q', [{ id, type: serial ? 'serial' : 'x', data: { tool: serial ? 'serial' : 'x', arguments: {}, timeoutSec: 1, tags: [], keyName: 'k', ...(serial ? { serial } : {}) } }])
      return id
    }
    const dueInMs = async (id: string): Promise<number> => {
      const due = await waitFor('it is delayed', async () => await redis.zscore('toolyard:{q}:delayed', id) ?? undefined)
      const [sec = 0] = await redis.time()
      return Number(due) / 4_096 - Number(sec) * 1_000
    }
    await add(true)
    await waitFor('the first runs', () => running === 1)
    const parked = await dueInMs(await add(true))
    t.ok(parked > 50_000 && parked < 62_000, `a serial job is parked for ${parked} ms`)
    const putOff = await add(false)
    const pause = await dueInMs(putOff)
    t.ok(pause > -3_000 && pause < 3_000, `a job is put off for ${pause} ms`)
    puttingOff = false
    await waitFor('it is run when it is due', async () => await redis.hexists(`toolyard:{q}:${putOff}`, 'finishedOn') === 1, 10_000)
    free()
    await waitFor('the parked one is called', () => running === 2, 10_000)
  })
}

t.test('thousands of jobs that are due at one moment are made ready by many short commands, all before the next job is taken', async t => {
  const server = await startTestRedis(t)
  const redis = await connectTo(t, server)
  const queues = new JobQueues(redis, new QueueDirectory(redis, 10), { ageSec: 60, count: 10_000 })
  t.teardown(() => queues.close())
  const jobs = Array.from({ length: 2_050 }, () => ({ id: queues.newId(), type: 'x', data: { tool: 'x', arguments: {}, timeoutSec: 1, tags: [], keyName: 'k' }, delayMs: 1 }))
  await queues.add('q', jobs)
  let [ready, most] = [0, 0]
  let isOver = false
  await monitorRedis(t, server.socket, ([command = '', key = '']) => {
    if (/^eval/i.test(command)) ready = 0
    if (/^zadd$/i.test(command) && key.endsWith(':prioritized')) most = Math.max(most, ++ready)
    if (/^ping$/i.test(command)) isOver = true
  })
  await waitFor('all are due', async () => Number((await redis.zrange('toolyard:{q}:delayed', '-1', '-1', 'WITHSCORES'))[1]) / 4_096 < queues.open('q').backend.now())
  const { backend } = queues.open('q')
  t.ok((await backend.moveToActive('token'))[0])
  await redis.ping()
  await waitFor('all commands were seen', () => isOver)
  t.equal(await redis.zcard('toolyard:{q}:delayed'), 0)
  const left = await redis.zrange('toolyard:{q}:prioritized', '0', '-1')
  t.same(left, jobs.slice(1).map(({ id }) => id), 'in the order in which they became due')
  t.ok(most > 0 && most <= 100, `${most} by one command`)
})
