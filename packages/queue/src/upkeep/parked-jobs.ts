import { lookAt } from '../flow/dependencies.ts'
import { release, type FlowParts } from '../flow/release.ts'
import { settledSteps } from '../flow/step-jobs.ts'
import { alarmsKey, internalName, jobKey, keyPrefix } from '../names.ts'

/** Jobs that one turn looks at, in each queue. */
const atOnce = 200

/** Releases the jobs that have waited for their steps as long as they may; they end by themselves then. */
export async function wakeDueJobs (parts: FlowParts, queue: string): Promise<void> {
  const key = alarmsKey(queue)
  for (const id of await parts.redis.zrangebyscore(key, '-inf', Date.now(), 'LIMIT', 0, atOnce)) {
    await release(parts, queue, id)
    // One that is at work now sets another alarm when it parks.
    await parts.redis.zrem(key, id)
  }
}

/**
 * Returns a function that looks at the parked jobs of a queue, a part of them each time: what they wait for may have
 * ended while the process died that would have told them.
 */
export function createParkedReview (parts: FlowParts): (queue: string) => Promise<void> {
  const places = new Map<string, number>()
  return async queue => {
    const start = places.get(queue) ?? 0
    const ids = await parts.redis.zrange(`${keyPrefix}:${internalName(queue)}:waiting-children`, String(start), String(start + atOnce - 1))
    if (ids.length < atOnce) places.delete(queue)
    else places.set(queue, start + atOnce)
    for (const id of ids) {
      const seen = await parts.redis.hget(jobKey(queue, id), 'seen')
      if (seen === null) await lookAt(parts, queue, id)
      else if (Number(seen) !== await settledSteps(parts.redis, queue, id)) await release(parts, queue, id)
    }
  }
}
