import { releaseIfReady } from '../queues/dependencies.ts'
import { release, settledSteps, type FlowParts } from '../queues/release.ts'
import { alarmsKey, jobKey, queueKey, serverTime } from '@toolyard/store'

/** Jobs that one turn looks at, in each queue; of those that are parked, in all queues. */
const atOnce = 200
const mostReviewed = 2_000

/**
 * Removes an alarm that is due, unless the job has set a later one, or is parked still: the master that released it was lost. KEYS:
 * alarms, waiting-children. ARGV: id, time.
 */
const forgetScript = `
if redis.call('ZSCORE', KEYS[2], ARGV[1]) then return end
local at = redis.call('ZSCORE', KEYS[1], ARGV[1])
if at and tonumber(at) <= tonumber(ARGV[2]) then redis.call('ZREM', KEYS[1], ARGV[1]) end
`

/** Releases the jobs that have waited for their steps as long as they may; they end by themselves then. */
export async function wakeDueJobs (parts: FlowParts, queue: string): Promise<void> {
  const { redis } = parts
  const key = alarmsKey(queue)
  const now = serverTime(redis)
  for (const id of await redis.zrangebyscore(key, '-inf', now, 'LIMIT', 0, atOnce)) {
    await release(parts, queue, id)
    // One that is at work sets another alarm when it parks, which may be now.
    await redis.eval(forgetScript, 2, key, queueKey(queue, 'waiting-children'), id, now)
  }
}

/**
 * Looks at some of the parked jobs of a queue, whichever they are: what they wait for may have ended while the process
 * died that would have told them.
 *
 * @param queues how many there are
 */
export async function reviewParkedJobs (parts: FlowParts, queue: string, queues: number): Promise<void> {
  const most = Math.min(atOnce, Math.ceil(mostReviewed / queues))
  for (const id of await parts.redis.zrandmember(queueKey(queue, 'waiting-children'), most)) {
    const seen = await parts.redis.hget(jobKey(queue, id), 'seen')
    if (seen === null) await releaseIfReady(parts, queue, id)
    else if (Number(seen) !== await settledSteps(parts.redis, queue, id)) await release(parts, queue, id)
  }
}
