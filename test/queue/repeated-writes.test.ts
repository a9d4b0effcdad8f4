import { JobQueues, QueueDirectory, type HandlerResult } from '@toolyard/queue'
import { jobKey, newJobId, outputKey, queueKey } from '@toolyard/store'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { startPool } from '../support/pool.ts'
import { startRedisProxy } from '../support/redis-proxy.ts'
import { startTestRedis } from '../support/redis.ts'

/*
 * Redis refuses two commands in a row that concern a job: the first and the second, the second and the third, until none is left.
 * Whatever a run ends with, nothing of it is lost, and nothing is run that must not be.
 */

const queue = 'q'
const output = 'long '.repeat(2_000)
const done = { kind: 'succeeded', json: '1', value: 1 } as const

/** What the first run ends with, how often the job runs then, and where it comes to. */
const ends: Record<string, { result: HandlerResult, runs: number, comesTo: 'completed' | 'asked' }> = {
  'a short output': { result: done, runs: 1, comesTo: 'completed' },
  'a long output': { result: { kind: 'succeeded', json: JSON.stringify(output), value: output }, runs: 1, comesTo: 'completed' },
  'the turn of a serial tool': { result: done, runs: 1, comesTo: 'completed' },
  'a question': { result: { kind: 'asks', ask: { name: 'answer', text: 'Which?', schema: {} } }, runs: 1, comesTo: 'asked' },
  'an approval that is taken back': { result: { kind: 'held', held: { digest: 'd', changed: 'arguments', program: 'p' } }, runs: 2, comesTo: 'completed' },
  'a wait for steps': { result: { kind: 'waits', wait: { until: Date.now() + 60_000, settled: 0 } }, runs: 2, comesTo: 'completed' },
  'a job that is put off': { result: { kind: 'later', reason: 'it is elsewhere' }, runs: 2, comesTo: 'completed' },
  'a lost run': { result: { kind: 'requeued' }, runs: 2, comesTo: 'completed' }
}

void t.test('a worker repeats what Redis refuses of a job', { timeout: 300_000 }, async t => {
  const server = await startTestRedis(t)
  const redis = await connectTo(t, server)
  const retention = { ageSec: 60, count: 1_000 }
  const queues = new JobQueues(redis, new QueueDirectory(redis, 10), retention)
  t.teardown(() => queues.close())
  const proxy = await startRedisProxy(t, { path: server.socket })
  let runs = 0
  let first: HandlerResult = done
  await startPool(t, { ...server, url: proxy.url }, {
    retention,
    known: [queue],
    isSerial: tool => tool === 'the turn of a serial tool',
    handle: async job => {
      // As workers do with a tool that may run only once.
      const hasBegun = await job.begin().catch(() => undefined)
      if (hasBegun !== true) return hasBegun === undefined ? { kind: 'later', reason: 'Redis', nowhere: true } : { kind: 'taken' }
      return ++runs === 1 ? first : done
    },
    onError: () => {}
  })

  /** @returns whether so many commands came, and where the job came to */
  async function refuse (tool: string, number: number): Promise<{ isRefused: boolean, comesTo: string }> {
    const id = newJobId()
    let seen = 0
    runs = 0
    void proxy.failWhere('NOPERM this user has no permissions', (_name, args) => {
      const isRenewal = args[1] === '1' && args[2]?.endsWith(':stalled') === true
      if (isRenewal || !args.some(arg => arg.includes(id))) return false
      seen++
      return seen === number || seen === number + 1
    })
    await queues.add(queue, [{ id, type: 'x', data: { tool, arguments: {}, timeoutSec: 1, tags: [], keyName: 'k' } }])
    const comesTo = await waitFor(`the job with ${tool} has come to an end`, async () => {
      const [failed, completed, delayed, asked] = await Promise.all([
        redis.zscore(queueKey(queue, 'failed'), id), redis.zscore(queueKey(queue, 'completed'), id),
        redis.zscore(queueKey(queue, 'delayed'), id), redis.hexists(jobKey(queue, id), 'asked')
      ])
      if (failed !== null) return `failed: ${await redis.hget(jobKey(queue, id), 'failedReason')}`
      if (completed !== null) return 'completed'
      return delayed !== null && asked === 1 && 'asked'
    })
    const isRefused = seen >= number
    proxy.mend()
    if (tool === 'a long output') t.equal(await redis.get(outputKey(queue, id)), JSON.stringify(output))
    return { isRefused, comesTo }
  }

  for (const [tool, { result, runs: wanted, comesTo }] of Object.entries(ends)) {
    first = result
    for (let number = 1; ; number++) {
      const refused = await refuse(tool, number)
      t.match({ ...refused, runs }, { comesTo, runs: wanted }, `${tool}: command ${number}`)
      if (!refused.isRefused) break
    }
  }
})
