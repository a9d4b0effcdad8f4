import { serverTime, statisticsKey, type Redis } from '@toolyard/store'
import type { QueueDirectory } from '../queues/queue-directory.ts'
import { countQueues } from '../read/queue-census.ts'

const minuteMs = 60_000
/** A day is shown; the hour in which it began is kept as a whole. */
const keptSec = 26 * 3_600

/** Notes how many jobs run and wait. The last look of a minute stays, in the hash of its hour. */
export async function countJobs ({ redis, directory }: { redis: Redis, directory: QueueDirectory }): Promise<void> {
  const queues = await countQueues(redis, directory)
  const sum = (which: 'running' | 'waiting'): number => queues.reduce((all, queue) => all + queue[which], 0)
  const minute = Math.floor(serverTime(redis) / minuteMs)
  const key = statisticsKey('jobs', Math.floor(minute / 60))
  await redis.multi().hset(key, minute, JSON.stringify([sum('running'), sum('waiting')])).expire(key, keptSec).exec()
}
