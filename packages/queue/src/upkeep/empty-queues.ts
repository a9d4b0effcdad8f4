import type { Redis } from '../connection.ts'
import { emptyQueuesKey, internalName, keyPrefix } from '../names.ts'
import { registeredMs, type QueueDirectory } from '../queue-directory.ts'

/** How long a queue must have been without any job, also finished ones. Who added a job before has it registered anew by then. */
const emptyMs = 2 * registeredMs

const lists = ['wait', 'prioritized', 'delayed', 'active', 'paused', 'waiting-children', 'completed', 'failed']
/** What BullMQ keeps of a queue without jobs. */
const remains = ['events', 'pc', 'id']

/**
 * Forgets a queue that has had no job for a while, so that `MAX_QUEUES` counts queues in use. A job that is added in the
 * same moment makes it known again.
 */
export async function forgetEmptyQueue ({ redis, directory }: { redis: Redis, directory: QueueDirectory }, queue: string, now = Date.now()): Promise<void> {
  if (!await isEmpty(redis, queue)) {
    await redis.hdel(emptyQueuesKey, queue)
    return
  }
  await redis.hsetnx(emptyQueuesKey, queue, now)
  const since = await redis.hget(emptyQueuesKey, queue)
  if (since === null || now - Number(since) < emptyMs) return
  await directory.forget(queue)
  await redis.hdel(emptyQueuesKey, queue)
  if (await isEmpty(redis, queue)) await redis.del(...remains.map(name => keyOf(queue, name)))
  else await directory.restore(queue)
}

async function isEmpty (redis: Redis, queue: string): Promise<boolean> {
  return await redis.exists(...lists.map(name => keyOf(queue, name))) === 0
}

function keyOf (queue: string, name: string): string {
  return `${keyPrefix}:${internalName(queue)}:${name}`
}
