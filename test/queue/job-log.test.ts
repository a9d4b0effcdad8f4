import { JobLogs, LargeReads } from '@toolyard/queue'
import { newJobId } from '@toolyard/store'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { startPool } from '../support/pool.ts'
import { startTestRedis } from '../support/redis.ts'

const server = await startTestRedis(t)
let say: (message: string) => void = () => {}
let end: (() => void) | undefined
const { redis, queues } = await startPool(t, server, {
  handle: async job => {
    say = message => { job.log({ level: 'info', message }) }
    await new Promise<void>(resolve => { end = resolve })
    return { kind: 'succeeded', json: '1', value: 1 }
  }
})
const data = { tool: 'x', arguments: {}, timeoutSec: 60, tags: [], keyName: 'k' }
const linesOf = async (id: string): Promise<string[]> => (await new JobLogs(redis, new LargeReads(redis)).after('q', id, '0-0', 100)).map(({ message }) => message)
const refusals = async (): Promise<number> => Number(/^errorstat_OOM:count=(\d+)/m.exec(await redis.info('errorstats'))?.[1] ?? 0)

t.test('what a tool prints while Redis is full is in its log once there is room, however long that takes', async t => {
  const id = newJobId()
  await queues.add('q', [{ id, type: 'x', data }])
  await waitFor('it runs', () => end !== undefined)
  say('before')
  await waitFor('the first line is there', async () => (await linesOf(id)).length === 1)
  await redis.config('SET', 'maxmemory', '1')
  say('one')
  // Longer than lines are tried to be written after the end of a run.
  await waitFor('it was refused for four seconds', async () => await refusals() > 20, 60_000)
  say('two')
  await redis.config('SET', 'maxmemory', '0')
  await waitFor('all are there', async () => (await linesOf(id)).length === 3)
  say('three')
  end?.()
  await waitFor('it has ended', async () => await redis.hexists(`toolyard:{q}:${id}`, 'finishedOn') === 1)
  t.same(await linesOf(id), ['before', 'one', 'two', 'three'])
})
