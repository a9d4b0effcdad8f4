import { releaseIfReady } from '../queues/dependencies.ts'
import { release, settledSteps, type FlowParts } from '../queues/release.ts'
import { alarmsKey, jobKey, queueKey, serverTime } from '@toolyard/store'

/** Jobs that one turn looks at, in each queue. */
const atOnce = 200

/** Releases the jobs that have waited for their steps as long as they may; they end by themselves then. */
export async function wakeDueJobs (parts: FlowParts, queue: string): Promise<void> {
  const key = alarmsKey(queue)
  for (const id of await parts.redis.zrangebyscore(key, '-inf', serverTime(parts.redis), 'LIMIT', 0, atOnce)) {
    await release(parts, queue, id)
    // One that is at work now sets another alarm when it parks.
    await parts.redis.zrem(key, id)
  }
}

/**
 * Looks at some of the parked jobs of a queue, whichever they are: what they wait for may have ended while the process
 * died that would have told them.
 */
export async function reviewParkedJobs (parts: FlowParts, queue: string): Promise<void> {
  for (const id of await parts.redis.zrandmember(queueKey(queue, 'waiting-children'), atOnce)) {
    const seen = await parts.redis.hget(jobKey(queue, id), 'seen')
    if (seen === null) await releaseIfReady(parts, queue, id)
    else if (Number(seen) !== await settledSteps(parts.redis, queue, id)) await release(parts, queue, id)
  }
}
