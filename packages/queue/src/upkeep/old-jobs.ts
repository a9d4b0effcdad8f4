import { type Redis, jobLogKey, outputKey, serverTime } from '@toolyard/store'
import type { JobQueues } from '../queues/job-queues.ts'
import type { Retention } from '../record/retention.ts'

/** Jobs of each kind of end that one turn removes. */
const atOnce = 1_000

/** Removes the finished jobs of a queue that are older than they are kept: BullMQ does so only when another job ends. */
export async function removeOldJobs (
  { redis, queues, retention }: { redis: Redis, queues: JobQueues, retention: Retention }, queue: string
): Promise<void> {
  const { backend } = queues.open(queue)
  const endedBefore = serverTime(redis) - retention.ageSec * 1_000
  for (const end of ['completed', 'failed'] as const) {
    const removed = await backend.cleanJobsByState(end, endedBefore, atOnce)
    if (removed.length === 0) continue
    await queues.index.drop(queue, removed)
    // BullMQ doesn't know them.
    await redis.unlink(...removed.flatMap(id => [outputKey(queue, id), jobLogKey(queue, id)]))
  }
}
