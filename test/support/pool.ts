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
  /** Adds a job, and gives its id. */
  add: (queue: string) => Promise<string>
}

/** Where it differs from a pool that serves all queues, a job at a time, each of which succeeds at once. */
export interface PoolWishes extends Partial<Pick<WorkerPoolOptions, 'retention' | 'concurrency' | 'handle' | 'maxRunning' | 'mayTake' | 'onError'>> {
  /** Queues that are there from the start. */
  known?: readonly string[]
  maxQueues?: number
}

/** Starts a pool, which is stopped when the test ends; it must report no error, unless it is asked what becomes of one. */
export async function startPool (t: Test, server: TestRedis, wishes: PoolWishes = {}): Promise<StartedPool> {
  const { known = [], maxQueues = 100, retention = { ageSec: 60, count: 1_000 }, concurrency = 1 } = wishes
  const { handle, maxRunning, mayTake, onError } = wishes
  const redis = await connectTo(t, server)
  const directory = new QueueDirectory(redis, maxQueues)
  const queues = new JobQueues(redis, directory, retention)
  for (const queue of known) await directory.register(queue)
  const pool = new WorkerPool({
    redis,
    subscriber: await connectTo(t, server, 'subscriber'),
    retention,
    queues: ['*'],
    concurrency,
    ...(maxRunning === undefined ? {} : { maxRunning }),
    ...(mayTake === undefined ? {} : { mayTake }),
    handle: handle ?? (async () => ({ kind: 'succeeded', json: '1', value: 1 })),
    onError: onError ?? (error => { t.error(error) })
  })
  await pool.start()
  t.teardown(async () => {
    await pool.stop(0)
    await queues.close()
  })
  const add = async (queue: string): Promise<string> => {
    const id = newJobId()
    await queues.add(queue, [{ id, type: 'x', data: { tool: 'x', arguments: {}, timeoutSec: 1, tags: [], keyName: 'k' } }])
    return id
  }
  return { redis, directory, queues, pool, add }
}
