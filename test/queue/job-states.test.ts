import { QueueDirectory } from '@toolyard/queue'
import fc from 'fast-check'
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import t from 'tap'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'
import { ModelledQueue, type Step } from './modelled-queue.ts'

/*
 * Random sequences of what happens to jobs, done with our scripts and with a small model in memory. After each step, BullMQ's
 * own `Queue` and `Job` must read of Redis what the model says. Two workers take jobs in turn, and one that has lost a job goes
 * on with it. The time is Redis', which is made up here, and the clock of the process is wrong.
 */

const redis = await connectTo(t, await startTestRedis(t))
/** One: each listens to the connection. */
const directory = new QueueDirectory(redis, 2)
const startMs = Date.now()

const job = fc.record({ priority: fc.nat(10), delayMs: fc.constantFrom(0, 0, 0, 2_000), maxAttempts: fc.constantFrom(1, 1, 3) })
const steps: fc.Arbitrary<Step[]> = fc.array(fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('add' as const), jobs: fc.array(job, { minLength: 1, maxLength: 4 }), again: fc.boolean() }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('take' as const), worker: fc.nat(1) }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constantFrom('succeed' as const, 'fail' as const, 'begin' as const, 'lose' as const, 'put off' as const, 'give back' as const), at: fc.nat(9), fetchNext: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(1, 700, 3_000, 30_000) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('stalled' as const, 'pause' as const, 'resume' as const) }) }
), { minLength: 1, maxLength: 30, size: 'max' })

/** What was wrong once: a worker that had lost its job, and was refused, gave a due job its turn. */
const job8 = { priority: 8, delayMs: 0, maxAttempts: 1 }
const lostEnd: Step[] = [
  { kind: 'add', jobs: [{ ...job8, delayMs: 2_000 }, { ...job8, priority: 0 }], again: false },
  { kind: 'take', worker: 0 },
  { kind: 'add', jobs: [job8], again: false },
  { kind: 'pass', ms: 30_000 },
  { kind: 'lose', at: 0, fetchNext: false },
  { kind: 'succeed', at: 0, fetchNext: true }
]

/** Does all steps, and compares after each. */
async function run (todo: readonly Step[], skewMs: number): Promise<void> {
  await redis.flushdb()
  const pair = new ModelledQueue(redis, directory, startMs)
  Date.now = () => pair.nowMs + skewMs
  Object.assign(performance, { now: () => pair.nowMs - startMs })
  try {
    for (const [place, step] of todo.entries()) {
      await pair.do(step)
      const [read, modelled] = (await pair.states()).map(side => JSON.stringify(side, sortKeys))
      if (read !== modelled) throw new Error(`step ${place} ${JSON.stringify(step)}\nread  ${read}\nmodel ${modelled}`)
    }
  } finally {
    await pair.close()
  }
}

function sortKeys (_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1))
}

/** The scripts of BullMQ beside which ours work, and the beginnings of the SHA-256 of their texts. */
const knownScripts = {
  addDelayedJob: 'e47c0db3c46bd84afab98fae90bba3b9',
  addParentJob: '19780e843859d4d8f0ceade1aec912bb',
  addPrioritizedJob: 'd4652d1be004a3d7bfed76efdc706f20',
  moveStalledJobsToWait: 'dad86d89b50d825fb9ad1e95ef0ca9ae',
  moveToActive: '7d35069db0b831af1bd1b2d5eb8d524e',
  moveToDelayed: '1a7b9311ef92fd66416973c29fa8b2c9',
  moveToFinished: '8e744ec5d65dbe9e7ffb6e39a96c0268',
  moveToWaitingChildren: '677d46787c3d50be28d37af321d2a445',
  promote: '06c562bf39eaaa21ac81963c16f5dce6',
  reprocessJob: '4ea1093385a876769f604fb60e2db13d'
}

t.test('the scripts of BullMQ are those that ours were made after: packages/queue/src/backend/README.md says what to do', async t => {
  const scripts = createRequire(import.meta.url)('bullmq/dist/cjs/scripts/index.js') as Record<string, { content: string }>
  const digests = Object.keys(knownScripts).map(name => [name, createHash('sha256').update(scripts[name]?.content ?? '').digest('hex').slice(0, 32)])
  t.strictSame(Object.fromEntries(digests), knownScripts)
})

t.test('BullMQ\'s Queue and Job read the states that a model says, for any operations and any clock', async t => {
  const [now, random, evaluate] = [Date.now, Math.random, redis.eval.bind(redis) as (...args: unknown[]) => Promise<unknown>]
  const tick = performance.now.bind(performance)
  t.teardown(() => {
    Date.now = now
    Math.random = random
    Object.assign(performance, { now: tick })
  })
  Math.random = () => 0.5
  // The last measurement of Redis' clock holds: the made-up time passes by the clock of the process.
  Object.assign(redis, { eval: async (...args: unknown[]) => args[0] === "return redis.call('TIME')" ? await Promise.reject(new Error('not now')) : await evaluate(...args) })
  const skew = fc.integer({ min: -72, max: 72 }).map(hours => hours * 3_600_000)
  await t.resolves(fc.assert(fc.asyncProperty(steps, skew, run), {
    numRuns: Number(process.env['STATE_RUNS'] ?? 50),
    examples: [[lostEnd, 0]]
  }))
})
