import { JobQueues, QueueDirectory, WorkerPool, type WorkerPoolOptions } from '@toolyard/queue'
import { newJobId, type Redis } from '@toolyard/store'
import type { Test } from 'tap'
import { connectTo } from './connection.ts'
import type { TestRedis } from './redis.ts'

/** A pool of workers in the test's own process, and what adds jobs for it. */
export interface StartedPool {
  redis: Redis
  directory: QueueDirectory
  queues: JobQueues
  pool: WorkerPool
  /** Adds jobs, one if nothing else is said, in one go, and gives the id of the first. */
  add: (queue: string, count?: number) => Promise<string>
}

/** Where it differs from a pool that serves all queues, a job at a time, each of which succeeds at once. */
export interface PoolWishes extends Partial<Omit<WorkerPoolOptions, 'redis' | 'subscriber'>> {
  /** Queues that are there from the start. */
  known?: readonly string[]
  maxQueues?: number
}

/** Starts a pool, which is stopped when the test ends; it must report no error, unless it is asked what becomes of one. */
export async function startPool (
  t: Test, server: TestRedis, { known = [], maxQueues = 100, ...wishes }: PoolWishes = {}
): Promise<StartedPool> {
  const options = { retention: { ageSec: 60, count: 1_000 }, queues: ['*'], concurrency: 1, ...wishes }
  const redis = await connectTo(t, server)
  const directory = new QueueDirectory(redis, maxQueues)
  const queues = new JobQueues(redis, directory, options.retention)
  for (const queue of known) await directory.register(queue)
  const pool = new WorkerPool({
    redis,
    subscriber: await connectTo(t, server, 'subscriber'),
    handle: async () => ({ kind: 'succeeded', json: '1', value: 1 }),
    onError: error => { t.error(error) },
    ...options
  })
  await pool.start()
  t.teardown(async () => {
    await pool.stop(0)
    await queues.close()
  })
  const add = async (queue: string, count = 1): Promise<string> => {
    const jobs = Array.from({ length: count }, () => ({ id: newJobId(), type: 'x', data: { tool: 'x', arguments: {}, timeoutSec: 1, tags: [], keyName: 'k' } }))
    t.same(await queues.add(queue, jobs), new Map())
    return jobs[0]?.id ?? ''
  }
  return { redis, directory, queues, pool, add }
}
