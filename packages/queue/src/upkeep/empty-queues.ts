import { type Redis, emptyQueuesKey, queueKey, serverTime, goOnWhenFull } from '@toolyard/store'
import type { QueueDirectory } from '../queues/queue-directory.ts'

/** How long a queue must have been without any job, also finished ones: much longer than `QueueDirectory` trusts a registration. */
const emptyMs = 600_000

const lists = ['wait', 'prioritized', 'delayed', 'active', 'paused', 'waiting-children', 'completed', 'failed']
/** Keys of a queue beside its jobs, without an end of their own. */
const remains = ['created', 'alarms', 'stalled', 'stalled-check', 'marker', 'meta', 'limiter', 'events', 'pc', 'id']

/** Whether a queue has no job, and isn't paused: somebody wants it to stay so. KEYS: meta, lists. */
const emptyCheck = `
local function isEmpty ()
  if redis.call('HEXISTS', KEYS[1], 'paused') == 1 then return false end
  for place = 2, ${lists.length + 1} do if redis.call('EXISTS', KEYS[place]) == 1 then return false end end
  return true
end
`
const emptyScript = `${emptyCheck} return isEmpty() and 1 or 0`
/** Notes since when a queue is empty. To forget it frees memory, so a full Redis takes it. KEYS: queues. ARGV: queue, time. */
const noteScript = `${goOnWhenFull('KEYS[1]')}
return redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
`
/** Removes what is left of an empty queue. KEYS: meta, lists, the rest. */
const removeScript = `${emptyCheck}
if not isEmpty() then return 0 end
for place, key in ipairs(KEYS) do redis.call('DEL', key) end
return 1
`

/**
 * Forgets queues that have had no job for a while, so that `MAX_QUEUES` counts queues in use; one that is paused stays, as
 * somebody wants it so. What is left of a queue is removed a turn later, when its workers have left it: they would write
 * it anew. A job that came in the meantime brings its queue back.
 */
export async function forgetEmptyQueues (
  { redis, directory }: { redis: Redis, directory: QueueDirectory }, queues: readonly string[]
): Promise<void> {
  const now = serverTime(redis)
  const empty = await redis.hgetall(emptyQueuesKey)
  for (const queue of Object.keys(empty)) {
    if (queues.includes(queue)) continue
    const keys = ['meta', ...lists, ...remains].map(name => queueKey(queue, name))
    if (await redis.eval(removeScript, keys.length, ...keys) !== 1) await directory.restore(queue)
    await redis.hdel(emptyQueuesKey, queue)
  }
  for (const queue of queues) {
    const since = empty[queue]
    if (!await isEmpty(redis, queue)) await redis.hdel(emptyQueuesKey, queue)
    else if (since === undefined) await redis.eval(noteScript, 1, emptyQueuesKey, queue, now)
    else if (now - Number(since) >= emptyMs) await directory.forget(queue)
  }
}

/** Whether a queue has no job, also no finished one, and isn't paused. */
export async function isEmpty (redis: Redis, queue: string): Promise<boolean> {
  const keys = ['meta', ...lists].map(name => queueKey(queue, name))
  return await redis.eval(emptyScript, keys.length, ...keys) === 1
}
