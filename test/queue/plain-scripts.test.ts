import { protocol } from '@toolyard/contract/terms'
import { JobQueues, QueueDirectory, type NewJob } from '@toolyard/queue'
import { internalName, jobKey, newJobId, type Redis } from '@toolyard/store'
import { Queue, Worker, type Job } from 'bullmq'
import t, { type Test } from 'tap'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'

/*
 * Plain jobs are added, taken and settled by scripts of our own, which must leave what BullMQ's leave: each test does the
 * same by both ways, in two queues, and compares all that is in Redis.
 */

const retention = { ageSec: 60, count: 3 }
/** As `JobQueues` makes it, with the id that BullMQ asks for. */
const optionsOf = ({ id, maxAttempts = 1 }: NewJob, priority: number): object => ({
  jobId: id, priority, attempts: maxAttempts, stackTraceLimit: 0, ...(maxAttempts === 1 ? {} : { backoff: { type: 'exponential', delay: 1_000, jitter: 0.5 } })
})

/** Ours don't repeat the id, which is in the key. */
const withoutId = (options: object = {}): object => Object.fromEntries(Object.entries(options).filter(([name]) => name !== 'jobId'))

type TakenJob = Pick<Job, 'id' | 'moveToCompleted' | 'moveToFailed' | 'attemptsStarted' | 'attemptsMade' | 'data' | 'opts' | 'priority' | 'timestamp'>

interface Way {
  queue: string
  add: (jobs: readonly NewJob[]) => Promise<void>
  take: () => Promise<TakenJob | undefined>
}

/** The same things done by our scripts and by BullMQ's. */
async function openWays (t: Test): Promise<{ redis: Redis, ways: [ours: Way, theirs: Way] }> {
  const redis = await connectTo(t, await startTestRedis(t))
  const queues = new JobQueues(redis, new QueueDirectory(redis, 2), retention)
  t.teardown(() => queues.close())
  const base = { connection: redis, prefix: 'toolyard', skipVersionCheck: true } as const
  const plain = new Queue(internalName('theirs'), base)
  t.teardown(() => plain.close())
  const kept = { age: retention.ageSec, count: retention.count }
  const worker = new Worker(internalName('theirs'), null, {
    ...base, autorun: false, lockDuration: 3_000, removeOnComplete: kept, removeOnFail: kept
  })
  t.teardown(() => worker.close())
  const { backend } = queues.open('ours')
  const priorities = new Map<string, number>()
  const ours: Way = {
    queue: 'ours',
    add: async jobs => {
      t.same(await queues.add('ours', jobs), new Map())
      for (const { id } of jobs) priorities.set(id, (await queues.open('ours').getJob(id))?.priority ?? 0)
    },
    take: async () => {
      const [fields, id] = await backend.moveToActive('token')
      return fields === null ? undefined : await queues.open('ours').getJob(id)
    }
  }
  const theirs: Way = {
    queue: 'theirs',
    add: async jobs => {
      for (const job of jobs) {
        await plain.add(job.type, { ...job.data, protocol }, optionsOf(job, priorities.get(job.id) ?? 0))
      }
    },
    take: async () => await worker.getNextJob('token', { block: false }) as TakenJob | undefined
  }
  return { redis, ways: [ours, theirs] }
}

const job = (maxAttempts = 1): NewJob => ({ id: newJobId(), type: 'x', data: { tool: 'é', arguments: {}, timeoutSec: 1, tags: [], keyName: 'k' }, maxAttempts })

/** Kept by one side only: the stream of events, the counter of ids, what is read at the start, and our index. */
const own = /:(events|id|meta|created|turns:.*|stalled-check)$/
/** The mark of a job whose run has not begun, which BullMQ doesn't know: none is left when it ends. */
const isMark = (name: string, hash: Record<string, string>): boolean => name === 'unbegun' && hash['finishedOn'] === undefined
/** Times that differ by the moment. */
const times = new Set(['timestamp', 'processedOn', 'finishedOn'])

/** All that is in Redis of a queue, without times. */
async function dump (redis: Redis, queue: string): Promise<Record<string, unknown>> {
  const stem = `toolyard:{${queue}}:`
  const keys = (await redis.keys(`${stem}*`)).filter(key => !own.test(key)).sort()
  const contents = await Promise.all(keys.map(async key => {
    const type = await redis.type(key)
    if (type === 'hash') {
      const hash = await redis.hgetall(key)
      const fields = Object.entries(hash).filter(([name]) => name !== 'opts' && !isMark(name, hash)).map(([name, value]) => times.has(name) ? [name, Number(value) > 1e12] : [name, value])
      return { fields: Object.fromEntries(fields) as unknown, opts: withoutId(JSON.parse(hash['opts'] ?? '{}') as object) }
    }
    if (type === 'list') return await redis.lrange(key, 0, -1)
    if (type === 'set') return (await redis.smembers(key)).sort()
    if (type === 'string') return [await redis.get(key), await redis.pttl(key) > 0]
    const ranked = await redis.zrange(key, '0', '-1', 'WITHSCORES')
    return /completed|failed/.test(key) ? ranked.filter((_entry, place) => place % 2 === 0) : ranked
  }))
  const left = Object.fromEntries(keys.map((key, place) => [key.slice(stem.length), contents[place]]))
  // BullMQ wakes a worker where there is nothing left to take.
  if (['wait', 'prioritized', 'delayed'].every(name => left[name] === undefined)) delete left['marker']
  return left
}

t.test('jobs are added as BullMQ adds them, and one that exists is left as it is', async t => {
  const { redis, ways: [ours, theirs] } = await openWays(t)
  const jobs = [job(), job(3), job()]
  for (const way of [ours, theirs]) {
    await way.add(jobs)
    await redis.hset(`toolyard:{${way.queue}}:${jobs[1]?.id ?? ''}`, 'atm', 2)
    await way.add(jobs.slice(1, 2))
  }
  const left = await dump(redis, 'ours')
  t.equal((left['prioritized'] as string[]).length, 6)
  t.same(left, await dump(redis, 'theirs'))
})

t.test('two requests of one turn that repeat each other add one job, and both find it made', async t => {
  const redis = await connectTo(t, await startTestRedis(t))
  const queues = new JobQueues(redis, new QueueDirectory(redis, 2), retention)
  t.teardown(() => queues.close())
  const same = [job()]
  for (const once of [true, false]) {
    // The first request of a queue looks up what the next ones know.
    await queues.add('ours', [job()])
    t.same(await Promise.all([queues.add('ours', same, once), queues.add('ours', same, once)]), [new Map(), new Map()])
  }
  t.equal(await redis.zcard('toolyard:{ours}:prioritized'), 3)
})

t.test('the options of a job do not repeat its id', async t => {
  const { redis, ways: [ours] } = await openWays(t)
  const { id } = job()
  await ours.add([{ ...job(), id }])
  t.same(JSON.parse(await redis.hget(`toolyard:{ours}:${id}`, 'opts') ?? ''), withoutId(optionsOf({ ...job(), id }, (await ours.take())?.priority ?? 0)))
})

t.test('jobs are added to a paused queue, and to one that runs as many as it may, as BullMQ adds them', async t => {
  for (const [field, value] of [['paused', '1'], ['concurrency', '0']] as const) {
    const { redis, ways } = await openWays(t)
    const jobs = [job()]
    for (const way of ways) {
      await redis.hset(`toolyard:{${way.queue}}:meta`, field, value)
      await way.add(jobs)
    }
    t.equal(await redis.exists('toolyard:{ours}:marker'), 0, 'nobody is woken')
    t.same(await dump(redis, 'ours'), await dump(redis, 'theirs'))
  }
})

t.test('jobs are taken as BullMQ takes them: by priority, those that were put back before all others', async t => {
  const { redis, ways } = await openWays(t)
  const jobs = [job(), { ...job(), priority: 9 }, job()]
  const taken: unknown[][] = []
  for (const way of ways) {
    await way.add(jobs)
    const back = jobs[2]?.id ?? ''
    await redis.zrem(`toolyard:{${way.queue}}:prioritized`, back)
    await redis.rpush(`toolyard:{${way.queue}}:wait`, back)
    const [first, second] = [await way.take(), await way.take()]
    taken.push([first, second].map(job => ({
      id: job?.id,
      started: job?.attemptsStarted,
      made: job?.attemptsMade,
      data: job?.data as unknown,
      opts: withoutId(job?.opts),
      priority: job?.priority
    })))
  }
  t.match(taken[0], [{ id: jobs[2]?.id }, { id: jobs[1]?.id }])
  t.same(taken[0], taken[1])
  t.same(await dump(redis, 'ours'), await dump(redis, 'theirs'))
})

t.test('jobs are settled as BullMQ settles them, succeeded or failed, and the next one is taken with it', async t => {
  const { redis, ways } = await openWays(t)
  const jobs = [job(), job(), job(), job()]
  for (const way of ways) {
    await way.add(jobs)
    const [first, second] = [await way.take(), await way.take()]
    await redis.hset(`toolyard:{${way.queue}}:${second?.id ?? ''}`, 'atm', 1, 'defa', 'x')
    const next = await first?.moveToCompleted({ kind: 'inline', value: 'ü' }, 'token', true) as [{ id: string }, string] | undefined
    t.equal(next?.[1], jobs[2]?.id)
    await second?.moveToFailed(new Error('two\nlines'), 'token', false)
  }
  t.same(await dump(redis, 'ours'), await dump(redis, 'theirs'))
})

t.test('as many ended jobs are kept as BullMQ keeps, the last ones; those that are too old are removed', async t => {
  const { redis, ways } = await openWays(t)
  const jobs = Array.from({ length: 7 }, () => job())
  for (const way of ways) {
    await way.add(jobs)
    for (let ended = 0; ended < 6; ended++) {
      await (await way.take())?.moveToCompleted(ended, 'token', false)
      // Each at a time of its own.
      await redis.zadd(`toolyard:{${way.queue}}:completed`, Date.now() - 10_000 + ended, jobs[ended]?.id ?? '')
    }
    await redis.zadd(`toolyard:{${way.queue}}:completed`, Date.now() - 61_000, jobs[4]?.id ?? '')
    await (await way.take())?.moveToCompleted(6, 'token', false)
  }
  const left = await dump(redis, 'ours')
  t.same(left['completed'], [jobs[3], jobs[5], jobs[6]].map(job => job?.id))
  t.same(left, await dump(redis, 'theirs'))
})

t.test('plain jobs keep to a queue\'s pause and to its limit of running jobs', async t => {
  for (const [field, value] of [['paused', '1'], ['concurrency', '1']] as const) {
    const { redis, ways } = await openWays(t)
    const jobs = [job(), job()]
    for (const way of ways) {
      await way.add(jobs)
      const first = await way.take()
      await redis.hset(`toolyard:{${way.queue}}:meta`, field, value)
      t.equal(await way.take(), undefined)
      await first?.moveToCompleted(1, 'token', field === 'paused')
    }
    t.same(await dump(redis, 'ours'), await dump(redis, 'theirs'))
  }
})

t.test('settling or taking a plain job finds delayed jobs that are due', async t => {
  const { redis, ways } = await openWays(t)
  const jobs = [job(), job()]
  for (const way of ways) {
    await way.add(jobs)
    const first = await way.take()
    const due = jobs[1]?.id ?? ''
    await redis.zrem(`toolyard:{${way.queue}}:prioritized`, due)
    await redis.zadd(`toolyard:{${way.queue}}:delayed`, (Date.now() - 100) * 4_096, due)
    const next = await first?.moveToCompleted(1, 'token', true) as unknown[] | undefined
    t.equal(next?.[1], due)
    // One of ours takes a new turn when it is due: the first, as no other waits.
    t.equal(await redis.hget(jobKey('ours', due), 'priority'), '953251')
    await redis.hset(jobKey(way.queue, due), 'priority', '953251')
  }
  t.same(await dump(redis, 'ours'), await dump(redis, 'theirs'))
})
