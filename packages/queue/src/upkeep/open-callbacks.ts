import type { JobData, OutputRecord } from '@toolyard/contract'
import { asError } from '@toolyard/contract/terms'
import type { Job } from 'bullmq'
import type { JobQueues } from '../queues/job-queues.ts'
import { jobKey, keyPrefix, mayRedisTakeItLater, openCallbacksKey, type Redis } from '@toolyard/store'

/** Entries that one turn looks at, and how many of them at once. */
const perTurn = 2_000
const chunkSize = 500
/** Older releases enter them here. */
const olderKey = `${keyPrefix}:callbacks:open`

/**
 * Posts the callbacks of jobs that have ended and whose settler died before it could.
 *
 * @param place where the last turn of this process ended: when there are many entries, this one goes on there
 */
export async function postForgottenCallbacks (
  { redis, queues }: { redis: Redis, queues: JobQueues }, place: { cursor: string }
): Promise<void> {
  await takeOlder(redis)
  const failures: unknown[] = []
  const post = async ({ queue, jobId }: { queue: string, jobId: string }): Promise<void> => {
    const job: Job<JobData, OutputRecord> | undefined = await queues.open(queue).getJob(jobId)
    if (job !== undefined) await queues.callbacks.post(queue, job)
  }
  for (let seen = 0; seen < perTurn; seen += chunkSize) {
    const { cursor, open } = await queues.callbacks.scan(place.cursor, chunkSize)
    place.cursor = cursor
    const ended = await Promise.all(open.map(({ queue, jobId }) => redis.hmget(jobKey(queue, jobId), 'timestamp', 'finishedOn')))
    for (const [index, entry] of open.entries()) {
      const [timestamp, finishedOn] = ended[index] ?? []
      // Who takes a job enters it, so that it exists; one that doesn't was removed.
      if (timestamp === null) await queues.callbacks.strikeOut(entry)
      if (timestamp === null || finishedOn === null) continue
      // One that can't be read holds up no others. A Redis that takes none now is not asked for each.
      await post(entry).catch((error: unknown) => {
        if (mayRedisTakeItLater(error)) throw error
        failures.push(error)
      })
    }
    if (cursor === '0') break
  }
  if (failures.length > 0) throw asError(failures[0])
}

/** Takes some of them, whichever they are. To take some twice changes nothing. */
async function takeOlder (redis: Redis): Promise<void> {
  const members = await redis.srandmember(olderKey, perTurn)
  if (members.length === 0) return
  await redis.sadd(openCallbacksKey, ...members)
  await redis.srem(olderKey, ...members)
}
