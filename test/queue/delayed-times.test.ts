import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { startPool } from '../support/pool.ts'
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
