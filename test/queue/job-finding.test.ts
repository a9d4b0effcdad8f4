import type { JobListQuery } from '@toolyard/contract'
import { BulkChanges, JobLister, JobQueues, QueueDirectory, type FinishedJobs, type JobCanceller, type NewJob } from '@toolyard/queue'
import fc from 'fast-check'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'

const redis = await connectTo(t, await startTestRedis(t))
const directory = new QueueDirectory(redis, 10)
const queues = new JobQueues(redis, directory, { ageSec: 600, count: 10_000 })
t.teardown(() => queues.close())
const lister = new JobLister({ redis, directory, queues })

interface Made { id: string, queue: string, tool: string, key: string, tenant?: string }
const made: Made[] = []

/** Adds jobs to a queue, some at a time; they wait. */
async function add (queue: string, count: number, { rareEvery, tenant }: { rareEvery: number, tenant?: string }): Promise<void> {
  const jobs = Array.from({ length: count }, (_, index): NewJob => ({
    id: queues.newId(),
    type: 'agentcli.any',
    data: {
      tool: index % rareEvery === 0 ? 'rare' : 'often',
      arguments: {},
      timeoutSec: 1,
      tags: ['"rare"', 'x'],
      keyName: index % 3 === 0 ? 'one' : 'two',
      ...(tenant === undefined ? {} : { tenant })
    }
  }))
  for (let start = 0; start < count; start += 200) {
    const refused = await queues.add(queue, jobs.slice(start, start + 200))
    if (refused.size > 0) throw new Error('jobs were refused')
  }
  const of = tenant === undefined ? {} : { tenant }
  made.push(...jobs.map(({ id, data }) => ({ id, queue, tool: data.tool, key: data.keyName, ...of })))
}
await add('a', 1_300, { rareEvery: 400 })
await add('b', 1_200, { rareEvery: 7, tenant: 'acme' })
await add('c', 10, { rareEvery: 5 })
await add('a', 900, { rareEvery: 300 })

async function pages (query: Partial<JobListQuery>, scope = {}): Promise<string[]> {
  const found: string[] = []
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await lister.list({ limit: 200, ...query, ...(cursor === undefined ? {} : { cursor }) }, scope)
    found.push(...page.jobs.map(({ id }) => id))
    cursor = page.nextCursor
  }
  return found
}

const created = new Map<string, number>()
for (let cursor: string | null | undefined; cursor !== null;) {
  const page = await lister.list({ limit: 200, ...(cursor === undefined ? {} : { cursor }) })
  for (const { id, created_at: at } of page.jobs) created.set(id, Date.parse(at))
  cursor = page.nextCursor
}

/** The same query over a list of all jobs. */
function expected ({ queue, tool, key, tenant, order, from = 0, to = Infinity }: Partial<JobListQuery>): string[] {
  const oldestFirst = made.filter(job => {
    const at = created.get(job.id) ?? NaN
    return (queue ?? job.queue) === job.queue && (tool ?? job.tool) === job.tool && (key ?? job.key) === job.key &&
      (tenant === undefined || tenant === job.tenant) && at >= from && at <= to
  }).map(({ id }) => id).sort()
  return order === 'oldest' ? oldestFirst : oldestFirst.reverse()
}

t.test('for any filter the pages have every matching job once, in the order that was asked for, over any number of pieces and queues', async t => {
  t.equal(created.size, made.length)
  const times = [...created.values()]
  const lastDay = Date.parse('9999-12-31T23:59:59.999Z')
  const oneOf = <T>(...values: T[]): fc.Arbitrary<T | undefined> => fc.constantFrom(undefined, ...values)
  const query = fc.record({
    queue: oneOf('a', 'b', 'none'),
    tool: oneOf('rare', 'often', 'rar'),
    key: oneOf('one', 'two', 'none'),
    tenant: oneOf('acme', 'other'),
    from: oneOf(...times, 0, lastDay),
    to: oneOf(...times, 0, lastDay),
    order: oneOf('newest', 'oldest'),
    limit: fc.constantFrom(7, 200)
  })
  await t.resolves(fc.assert(fc.asyncProperty(query, async asked => {
    const given = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined)) as Partial<JobListQuery>
    // Pages of seven take long where there are many jobs.
    const sized = expected(given).length > 100 ? { ...given, limit: 200 } : given
    return JSON.stringify(await pages(sized)) === JSON.stringify(expected(given))
  }), { numRuns: 40 }))
})

t.test('a tenant finds only its own jobs, whatever it asks for', async t => {
  t.same(await pages({ tool: 'rare' }, { tenant: 'acme' }), expected({ tool: 'rare', tenant: 'acme' }))
  t.same(await pages({ tool: 'rare' }, { tenant: 'other' }), [])
  t.same(await pages({ tool: 'rare', status: 'queued' }, { tenant: 'acme', queues: ['b', 'c'] }), expected({ tool: 'rare', tenant: 'acme' }))
  t.same(await pages({ status: 'succeeded' }), [])
  t.same(await pages({ order: 'oldest' }, { tenant: 'acme' }), expected({ tenant: 'acme', order: 'oldest' }))
})

void t.test('pieces of lists, of counts and of bulk changes are read two at a time, and owners take turns', async t => {
  let underWay = 0
  let most = 0
  const found: string[] = []
  const find: typeof queues.index.find = async (...asked) => {
    underWay += 1
    most = Math.max(most, underWay)
    found.push(asked[2].tag ?? '')
    return await queues.index.find(...asked).finally(() => { underWay -= 1 })
  }
  const watched = new JobLister({ redis, directory, queues: Object.create(queues, { index: { value: { find } } }) as JobQueues })
  const onError = (error: unknown): void => { t.error(error) }
  const parts = { canceller: {} as JobCanceller, finished: {} as FinishedJobs, mayRun: () => true, onError }
  const changes = new BulkChanges({ redis, lister: watched, ...parts })
  t.teardown(() => { changes.stop() })
  const loud = Array.from({ length: 10 }, async () => {
    await changes.begin({ action: 'run_again', filter: {}, query: { tag: 'loud', limit: 1 }, scope: { tenant: 'acme' }, keyName: 'a' })
  })
  loud.push(...Array.from({ length: 10 }, async () => { await watched.count({ tag: 'loud', limit: 1 }, {}, { owner: '@acme' }) }))
  await watched.list({ tag: 'quiet', limit: 1 }, {}, { owner: '@other' })
  const before = found.indexOf('quiet')
  t.ok(before <= 3, `${before} pieces were read before`)
  await Promise.all(loud)
  await waitFor('the changes end', async () => (await changes.list({ tenant: 'acme' })).every(({ state }) => state !== 'running'))
  t.equal(most, 2)
})
