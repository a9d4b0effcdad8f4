import type { TakenJob, HandlerResult, NewJob } from '@toolyard/queue'
import { newJobId, type Redis } from '@toolyard/store'
import t, { type Test } from 'tap'
import { waitFor } from '../support/condition.ts'
import { startPool } from '../support/pool.ts'
import { startTestRedis } from '../support/redis.ts'

/*
 * A job that was taken carries `unbegun` until its run has begun: should nobody ever hear that it was taken, it has not
 * been run. Here jobs are taken by a worker with one place, along with the end of the job before.
 */

const done = { kind: 'succeeded', json: '1', value: 1 } as const
const job = (maxAttempts = 1): NewJob => ({ id: newJobId(), type: 'x', data: { tool: 'x', arguments: {}, timeoutSec: 1, tags: [], keyName: 'k' }, maxAttempts })

interface Fixture {
  redis: Redis
  add: (...jobs: NewJob[]) => Promise<void>
  /** Lets the first job end so, once it runs; resolves when all others have ended. */
  end: (result: HandlerResult) => Promise<void>
  /** The marks of a job's runs in its record. */
  marks: (id: string) => Promise<Array<string | null>>
}

/** A pool of one place whose first job runs until it is told to end; what comes then is handled by `handle`. */
async function open (t: Test, handle: (job: TakenJob, fixture: Fixture) => Promise<void>): Promise<Fixture> {
  let endFirst: ((result: HandlerResult) => void) | undefined
  let ended = 0
  const { redis, queues } = await startPool(t, await startTestRedis(t), {
    queues: ['q'],
    handle: async job => {
      if (endFirst === undefined) return await new Promise<HandlerResult>(resolve => { endFirst = resolve })
      await handle(job, fixture)
      ended++
      return done
    }
  })
  const fixture: Fixture = {
    redis,
    add: async (...jobs) => { t.same(await queues.add('q', jobs), new Map()) },
    end: async result => {
      await waitFor('the first runs', () => endFirst !== undefined)
      endFirst?.(result)
      await waitFor('the other has ended', () => ended === 1)
    },
    marks: async id => await redis.hmget(`toolyard:{q}:${id}`, 'ats', 'unbegun')
  }
  return fixture
}

t.test('a job that is taken while another one is settled is unbegun until its run begins', async t => {
  const marks: unknown[] = []
  const { add, end } = await open(t, async (job, { marks: marksOf }) => {
    marks.push(...await marksOf(job.id))
    t.ok(await job.begin())
    marks.push(...await marksOf(job.id))
  })
  await add(job(), job())
  await end(done)
  t.same(marks, ['1', '1', '1', null])
})

t.test('a job that was put back unbegun begins when it is taken while another one is put off for its next attempt', async t => {
  const marks: unknown[] = []
  const back = job()
  const { add, end, redis } = await open(t, async (job, { marks: marksOf }) => {
    if (job.id !== back.id) return
    marks.push(job.lostBefore)
    t.ok(await job.begin())
    marks.push(...await marksOf(job.id))
  })
  await add(job(2), back)
  await redis.hset(`toolyard:{q}:${back.id}`, 'ats', 0, 'unbegun', '1')
  await end({ kind: 'failed', error: { code: 'TOOL_FAILED', message: 'no' }, retry: true })
  t.same(marks, [false, '1', null])
})
