import { CallStatistics } from '@toolyard/queue'
import { CallCounter, type EndedCall } from '@toolyard/store'
import fc from 'fast-check'
import t from 'tap'
import { connectTo } from '../support/connection.ts'
import { waitFor } from '../support/condition.ts'
import { monitorRedis } from '../support/redis-monitor.ts'
import { startTestRedis } from '../support/redis.ts'

const server = await startTestRedis(t)
const redis = await connectTo(t, server)
const statistics = new CallStatistics(redis)
const call: EndedCall = { tool: 'echo', queue: 'q', keyName: 'k', tenant: undefined, state: 'succeeded', ranMs: 5, waitedMs: 1, outputBytes: 3, processorMs: 2 }
const sizes = async (what: string): Promise<number[]> => await Promise.all((await redis.keys(`toolyard:{statistics}:${what}*`)).map(key => redis.hlen(key)))

/** Counts calls as a worker of its own. */
async function count (calls: readonly EndedCall[]): Promise<void> {
  const counter = new CallCounter(redis, error => { t.error(error) })
  for (const each of calls) counter.count(each)
  await counter.stop()
}

t.beforeEach(async () => { await redis.flushall() })

t.test('the counts of several workers are added, and quantiles are off by at most a fifth', async t => {
  const ms = fc.integer({ min: 2, max: 3_600_000 })
  const several = fc.array(fc.array(ms, { minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 3 })
  await t.resolves(fc.assert(fc.asyncProperty(several, async workers => {
    await redis.flushall()
    for (const runs of workers) await count(runs.map(ranMs => ({ ...call, ranMs })))
    const { total } = await statistics.read({ minutes: 60, scope: {} })
    const all = workers.flat().sort((a, b) => a - b)
    if (total.calls !== all.length) return false
    return ([['p50', 0.5], ['p95', 0.95]] as const).every(([name, share]) => {
      const exact = all[Math.ceil(share * all.length) - 1] ?? 0
      return Math.abs((total.running_ms[name] ?? 0) - exact) <= exact / 5 + 1
    })
  }), { numRuns: 25 }))
})

t.test('tools, queues and keys beyond the bound are counted together, and no call is lost', async t => {
  const tools = Array.from({ length: 400 }, (_, index) => ({ ...call, tool: `tool-${index}` }))
  await count(tools)
  await count(tools)
  const stats = await statistics.read({ minutes: 60, scope: {} })
  t.equal(stats.total.calls, 800)
  t.equal(stats.tools.reduce((sum, { calls }) => sum + calls, 0), 800)
  t.ok((stats.tools.find(({ name }) => name === null)?.calls ?? 0) > 400)
  for (const size of [...await sizes('minute:'), ...await sizes('hour:')]) t.ok(size <= 303, `${size} series`)
  t.equal(stats.usage.reduce((sum, { calls }) => sum + calls, 0), 800)
})

t.test('a tenant with many tools leaves others their series, and many tenants stay within the bound', async t => {
  await count(Array.from({ length: 300 }, (_, index) => ({ ...call, tenant: 'greedy', tool: `tool-${index}` })))
  await count([{ ...call, tenant: 'modest' }])
  const modest = await statistics.read({ minutes: 60, scope: { tenant: 'modest' } })
  t.match(modest, { total: { calls: 1 }, tools: [{ name: 'echo', calls: 1 }] })
  t.ok((await statistics.read({ minutes: 60, scope: { tenant: 'greedy' } })).tools.length <= 41)
  await count(Array.from({ length: 3_000 }, (_, index) => ({ ...call, tenant: `tenant-${index}`, keyName: `key-${index}` })))
  for (const size of [...await sizes('minute:'), ...await sizes('hour:')]) t.ok(size <= 303, `${size} series`)
  for (const size of await sizes('usage:')) t.ok(size <= 2_001, `${size} pairs`)
  t.equal((await statistics.read({ minutes: 60, scope: {} })).total.calls, 3_301)
})

t.test('series that were not counted for a day make room for others', async t => {
  await count(Array.from({ length: 400 }, (_, index) => ({ ...call, tool: `old-${index}` })))
  const series = await redis.zrange('toolyard:{statistics}:series', '0', '-1')
  await redis.zadd('toolyard:{statistics}:series', ...series.flatMap(name => ['1', name]))
  await count([{ ...call, tool: 'new' }])
  t.ok((await statistics.read({ minutes: 60, scope: {} })).tools.some(({ name }) => name === 'new'))
})

t.test('processor time is added for each key and tool, and is 0 where older workers counted the calls', async t => {
  await count([call, { ...call, processorMs: 3.4 }])
  await count([{ ...call, processorMs: 1_500 }, { ...call, tool: 'idle', processorMs: 0 }])
  async function used (): Promise<unknown> {
    const { usage } = await statistics.read({ minutes: 60, scope: {} })
    return usage.map(({ tool, processor_seconds: seconds }) => [tool, seconds]).sort()
  }
  t.same(await used(), [['echo', 1.505], ['idle', 0]])
  await redis.del(...await redis.keys('toolyard:{statistics}:processor:*'))
  t.same(await used(), [['echo', 0], ['idle', 0]])
})

t.test('the processor time of a call is there before its usage is: who sees the call sees both', async t => {
  const written: string[] = []
  await monitorRedis(t, server.socket, words => {
    const [, what] = words.map(word => /:(usage|processor):/.exec(word)).find(found => found !== null) ?? []
    if (what !== undefined) written.push(what)
  })
  await count([call])
  await waitFor('both are written', () => new Set(written).size === 2)
  t.equal(written[0], 'processor')
})
