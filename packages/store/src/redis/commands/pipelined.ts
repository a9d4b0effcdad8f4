import type { ChainableCommander } from 'ioredis'
import { asError, grouped } from '@toolyard/contract/terms'
import type { Redis } from '../connection.ts'
import { asRedisError, whileAvailable } from '../unavailable.ts'

/**
 * Sends commands for many items, one pipeline for each queue: in a Redis Cluster the keys of one queue are on one
 * server, those of two queues may not be.
 *
 * @param queueOf the public name of the queue that an item's keys belong to.
 * @param add adds an item's commands.
 * @returns for each item the replies to its commands, or the error that one of them met (RedisUnavailableError, say).
 */
export async function pipelined<T> (
  redis: Redis,
  items: readonly T[],
  queueOf: (item: T) => string,
  add: (pipeline: ChainableCommander, item: T) => void
): Promise<Array<unknown[] | Error>> {
  const found: Array<unknown[] | Error> = []
  await Promise.all([...grouped(items.entries(), ([, item]) => queueOf(item)).values()].map(async ofQueue => {
    const replies = await sendAll(redis, ofQueue.map(([, item]) => item), add)
    for (const [place, [index]] of ofQueue.entries()) found[index] = replies[place] ?? new Error('Redis gave no reply')
  }))
  return found
}

async function sendAll<T> (
  redis: Redis, items: readonly T[], add: (pipeline: ChainableCommander, item: T) => void
): Promise<Array<unknown[] | Error>> {
  const pipeline = redis.pipeline()
  const ends = items.map(item => {
    add(pipeline, item)
    return pipeline.length
  })
  try {
    const replies = await whileAvailable(pipeline.exec()) ?? []
    return ends.map((end, index) => {
      const own = replies.slice(ends[index - 1] ?? 0, end)
      const failed = own.find(([error]) => error !== null)
      return failed === undefined ? own.map(([, value]) => value) : asRedisError(failed[0])
    })
  } catch (error) {
    return items.map(() => asError(error))
  }
}
