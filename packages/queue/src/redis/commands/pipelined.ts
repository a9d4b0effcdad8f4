import type { ChainableCommander } from 'ioredis'
import { asError } from '@toolyard/contract/terms'
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
  const indexes = new Map<string, number[]>()
  for (const [index, item] of items.entries()) {
    const queue = queueOf(item)
    const known = indexes.get(queue)
    if (known === undefined) indexes.set(queue, [index])
    else known.push(index)
  }
  const found: Array<unknown[] | Error> = []
  await Promise.all([...indexes.values()].map(async ofQueue => {
    const replies = await sendAll(redis, ofQueue.flatMap(index => items.slice(index, index + 1)), add)
    for (const [place, index] of ofQueue.entries()) found[index] = replies[place] ?? new Error('Redis gave no reply')
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
