import { FinishedJobs, JobCanceller, JobQueues, QueueDirectory, type NewJob, type TakenJob } from '@toolyard/queue'
import { jobKey, newJobId, queueKey } from '@toolyard/store'
import fc from 'fast-check'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { startPool } from '../support/pool.ts'
import { startTestRedis } from '../support/redis.ts'

const server = await startTestRedis(t)
const redis = await connectTo(t, server)
const queues = new JobQueues(redis, new QueueDirectory(redis, 10_000), { ageSec: 3_600, count: 10_000 })
t.teardown(() => queues.close())

/** A key adds jobs; what is before the dash of its name is its tenant. */
interface Flood { key: string, count: number }

let rounds = 0

/** Who the jobs are of, in the order in which they will be served. */
async function served (floods: readonly Flood[]): Promise<string[]> {
  const queue = `fair-${++rounds}`
  const keyOf = new Map<string, string>()
  for (const { key, count } of floods) {
    const jobs = Array.from({ length: count }, (): NewJob => {
      const id = newJobId()
      keyOf.set(id, key)
      return { id, type: 'x', data: { tool: 'x', arguments: {}, timeoutSec: 10, tags: [], keyName: key, ...key.includes('-') && { tenant: key.split('-')[0] ?? '' } } }
    })
    await queues.add(queue, jobs)
    // Others hear of turns soon after.
    await waitFor(`the turns of ${key} are known`, async () => {
      const turns = await redis.hgetall(`toolyard:{${queue}}:turns:5`)
      return new RegExp(`"${key}\\W*:\\W*[1-9]`).test(JSON.stringify(turns))
    })
  }
  return (await redis.zrange(`toolyard:{${queue}}:prioritized`, '0', '-1')).map(id => keyOf.get(id) ?? '')
}

/** How many jobs are served until a key has had so many. */
function placeOf (order: readonly string[], key: string, count: number): number {
  return order.flatMap((other, place) => other === key ? [place + 1] : [])[count - 1] ?? Infinity
}

t.test('a tenant whose keys flood a queue in turn hardly delays another tenant', async t => {
  const order = await served([{ key: 'a-1', count: 100 }, { key: 'a-2', count: 100 }, { key: 'a-3', count: 100 }, { key: 'b-1', count: 10 }])
  // Without tenants it would be 40: each of the four keys in turn.
  t.ok(placeOf(order, 'b-1', 10) <= 30, `${placeOf(order, 'b-1', 10)}`)
})

t.test('a key waits no longer for a flood by another key of its tenant than for a flood by another tenant', async t => {
  const order = await served([{ key: 'a-1', count: 100 }, { key: 'a-2', count: 10 }])
  t.ok(placeOf(order, 'a-2', 10) <= 35, `${placeOf(order, 'a-2', 10)}`)
})

t.test('twenty keys of a tenant with a job each take turns like twenty jobs of one key', async t => {
  const order = await served([...Array.from({ length: 20 }, (_, index) => ({ key: `a-${index}`, count: 1 })), { key: 'b-1', count: 5 }])
  t.ok(placeOf(order, 'b-1', 5) <= 11, `${placeOf(order, 'b-1', 5)}`)
})

t.test('the number of keys that are counted for a tenant is bounded, so that Redis is not held up', async t => {
  const turnsOf = async (): Promise<object> => JSON.parse(await redis.hget('toolyard:{fair-many}:turns:5', '@many') ?? '{}') as object
  for (let index = 0; index < 300; index++) {
    await queues.add('fair-many', [{
      id: newJobId(), type: 'x', data: { tool: 'x', arguments: {}, timeoutSec: 10, tags: [], keyName: `many-${index}`, tenant: 'many' }
    }])
  }
  await waitFor('the last turn is told', async () => Object.hasOwn(await turnsOf(), 'many-299'))
  const { length } = Object.keys(await turnsOf())
  t.ok(length > 100 && length <= 200, `${length}`)
})

t.test('for any additions each job is served once, and a tenant waits for K keys of another one as for 1 + 1/2 + ... + 1/K keys', async t => {
  const flood = fc.record({ key: fc.constantFrom('a-1', 'a-2', 'a-3', 'b-1', 'c'), count: fc.integer({ min: 1, max: 20 }) })
  await t.resolves(fc.assert(fc.asyncProperty(fc.array(flood, { minLength: 1, maxLength: 5 }), async floods => {
    const order = await served([...floods, { key: 'last-1', count: 5 }])
    const total = floods.reduce((sum, { count }) => sum + count, 5)
    const keysOfA = new Set(floods.flatMap(({ key }) => key.startsWith('a-') ? [key] : [])).size
    const harmonic = Array.from({ length: keysOfA }, (_, index) => 1 / (index + 1)).reduce((sum, part) => sum + part, 0)
    const rivals = harmonic + Number(floods.some(({ key }) => key === 'b-1')) + Number(floods.some(({ key }) => key === 'c'))
    return order.length === total && placeOf(order, 'last-1', 5) <= 5 * (1 + rivals) + keysOfA + 1
  }), { numRuns: 30 }))
})

t.test('jobs that a tenant runs again take new turns, and are not before those of others that wait', async t => {
  const queue = 'again'
  const add = async (tenant: string, count: number): Promise<string[]> => {
    const ids = Array.from({ length: count }, () => newJobId())
    await queues.add(queue, ids.map(id => ({ id, type: 'x', data: { tool: 'x', arguments: {}, timeoutSec: 10, tags: [], keyName: tenant, tenant } })))
    return ids
  }
  const failed = await add('a', 20)
  for (const id of failed) {
    await redis.zrem(queueKey(queue, 'prioritized'), id)
    await redis.zadd(queueKey(queue, 'failed'), 1, id)
    await redis.hset(jobKey(queue, id), { finishedOn: '1', failedReason: '{"code":"TOOL_FAILED","message":"no"}' })
  }
  const busy = await add('b', 100)
  await redis.zrem(queueKey(queue, 'prioritized'), ...busy.slice(0, 50))
  const retention = { ageSec: 3_600, count: 10_000 }
  const own = new JobQueues(redis, new QueueDirectory(redis, 10_000), retention)
  t.teardown(() => own.close())
  const finished = new FinishedJobs({ redis, queues: own, canceller: new JobCanceller(redis, own), retention })
  for (const id of failed) t.equal(await finished.rerun(queue, id, { keyName: 'admin', mayRun: () => true }), 'queued')
  const order = (await redis.zrange(queueKey(queue, 'prioritized'), '0', '-1')).map(id => failed.includes(id) ? 'a' : 'b')
  t.ok(placeOf(order, 'b', 10) <= 22, `${placeOf(order, 'b', 10)}`)
  t.ok(placeOf(order, 'a', 10) <= 22, `${placeOf(order, 'a', 10)}`)
})

for (const wait of ['a time', 'another job'] as const) {
  t.test(`jobs that wait for ${wait} take their turns when that is over, and are not before those of others`, async t => {
    const queue = `late-${wait.length}`
    const jobsOf = (tenant: string, count: number, rest: Partial<NewJob> = {}, data: Partial<NewJob['data']> = {}): NewJob[] => Array.from({ length: count }, () => (
      { id: newJobId(), type: 'x', data: { tool: 'x', arguments: {}, timeoutSec: 10, tags: [], keyName: tenant, tenant, ...data }, ...rest }
    ))
    const first = wait === 'a time' ? [] : jobsOf('a', 1)
    const late = wait === 'a time' ? jobsOf('a', 60, { delayMs: 100 }) : jobsOf('a', 60, {}, { dependsOn: first.map(({ id }) => ({ id, queue })) })
    // At a quiet time, when turns begin at 1.
    await queues.add(queue, [...first, ...late])
    const busy = jobsOf('b', 100)
    await queues.add(queue, busy)
    // They have run meanwhile.
    await redis.zrem(queueKey(queue, 'prioritized'), ...busy.slice(0, 50).map(({ id }) => id))
    const order: string[] = []
    const isOver = async (): Promise<boolean> => {
      const [seconds] = await redis.time()
      return await redis.zcard(queueKey(queue, 'waiting-children')) + await redis.zcount(queueKey(queue, 'delayed'), Number(seconds) * 1_000 * 4_096, '+inf') === 0
    }
    await startPool(t, server, {
      queues: [queue],
      handle: async ({ id }: TakenJob) => {
        if (id === busy[50]?.id) await waitFor('the wait is over', isOver)
        if (id !== first[0]?.id) order.push(late.some(job => job.id === id) ? 'a' : 'b')
        return { kind: 'succeeded', json: '1', value: 1 }
      }
    })
    await waitFor('all have run', () => order.length === 110, 30_000)
    t.ok(placeOf(order, 'b', 20) <= 42, `${placeOf(order, 'b', 20)}: ${order.join('')}`)
    t.ok(placeOf(order, 'a', 20) <= 42, `${placeOf(order, 'a', 20)}: ${order.join('')}`)
  })
}
