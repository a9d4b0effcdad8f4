import { CompletionWaiter } from '@toolyard/queue'
import type { Redis } from '@toolyard/store'
import t, { type Test } from 'tap'
import { connectTo } from '../support/connection.ts'
import { waitFor } from '../support/condition.ts'
import { startTestRedis } from '../support/redis.ts'

/*
 * A record that isn't there proves nothing: in a failover a client can meet a server that came back empty, before it
 * follows the new master, where the job goes on.
 */

const job = '0197c9a5-0000-7000-8000-000000000000'
const record = `toolyard:{q}:${job}`
const neverAborted = new AbortController().signal

async function open (t: Test): Promise<{ redis: Redis, waiter: CompletionWaiter, looks: () => Promise<number> }> {
  const server = await startTestRedis(t)
  const redis = await connectTo(t, server)
  const waiter = new CompletionWaiter(redis, await connectTo(t, server, 'subscriber'))
  await waiter.start()
  t.teardown(() => { waiter.stop() })
  const looks = async (): Promise<number> => Number(/cmdstat_hmget:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0)
  return { redis, waiter, looks }
}

void t.test('a call whose job has no record for a while is answered with its end when the record is back', async t => {
  const { redis, waiter, looks } = await open(t)
  const expectation = waiter.expect('q', [job])
  expectation.arm([job])
  const settling = expectation.settle(60_000, neverAborted)
  await waitFor('the waiter has looked for the record four times', async () => await looks() >= 4)
  await redis.hset(record, { timestamp: 1, finishedOn: 2, returnvalue: JSON.stringify({ kind: 'inline', value: 7 }) })
  t.same([...await settling], [[job, { ok: true, output: { kind: 'inline', value: 7 } }]])
  expectation.release()
})

void t.test('a call whose job has no record has no end, and stays pending', async t => {
  const { waiter, looks } = await open(t)
  const expectation = waiter.expect('q', [job])
  expectation.arm([job])
  const deadline = new AbortController()
  const settling = expectation.settle(60_000, deadline.signal)
  await waitFor('the waiter has looked for the record four times', async () => await looks() >= 4)
  deadline.abort()
  t.equal((await settling).size, 0)
  expectation.release()
  t.equal(waiter.size, 0)
})

void t.test('promise 6: the records of any number of calls that wait are looked for some at a time', async t => {
  const { redis, waiter, looks } = await open(t)
  const ids = Array.from({ length: 2_000 }, (_, place) => `${job.slice(0, -4)}${String(place).padStart(4, '0')}`)
  const make = redis.pipeline.bind(redis)
  const made: Array<ReturnType<typeof make>> = []
  redis.pipeline = (...args: Parameters<typeof make>) => {
    const pipeline = make(...args)
    made.push(pipeline)
    return pipeline
  }
  const expectation = waiter.expect('q', ids)
  expectation.arm(ids)
  await waitFor('each was looked for', async () => await looks() >= ids.length)
  t.ok(Math.max(...made.map(({ length }) => length)) <= 250, `${Math.max(...made.map(({ length }) => length))} at once`)
  expectation.release()
})
