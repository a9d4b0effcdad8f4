import { fromRedis, jobKey, queueKey, type Redis } from '@toolyard/store'
import type { JobCanceller } from '../change/job-canceller.ts'
import type { JobQueues } from '../queues/job-queues.ts'
import type { QueueDirectory } from '../queues/queue-directory.ts'
import { notRunAgain } from '../record/settlement.ts'
import { LostJobs } from './lost-jobs.ts'

/** Jobs of a queue that one look reads: those that were taken first. */
const atOnce = 1_000

/**
 * The jobs that are active though nobody has their lock, each with its type. KEYS: active jobs. ARGV: the stem of the jobs' keys;
 * how many are looked at.
 */
const lostScript = `
local lost = {}
for _, id in ipairs(redis.call('LRANGE', KEYS[1], -ARGV[2], -1)) do
  if redis.call('EXISTS', ARGV[1] .. id .. ':lock') == 0 then
    table.insert(lost, {id, redis.call('HGET', ARGV[1] .. id, 'name') or ''})
  end
end
return lost
`

interface UnservedJobsOptions {
  redis: Redis
  directory: QueueDirectory
  queues: JobQueues
  canceller: JobCanceller
  /** Whether a run of this job type that was lost may be begun anew. */
  mayRepeat: (type: string) => boolean
  onError: (error: Error, queue: string) => void
}

/**
 * Ends the jobs of lost workers, or puts them back, also in queues that no worker serves any more. A worker looks at the queues
 * that it serves; API processes take turns to look at all: docs/decisions/0024-lost-workers.md.
 */
export function createUnservedJobs (options: UnservedJobsOptions): LostJobs {
  const { redis, directory, onError } = options
  return new LostJobs({
    redis,
    // No queue has such a name.
    group: ['all queues'],
    watched: async () => (await directory.list()).map(queue => [queue, { recover: async () => { await recover(queue, options) } }]),
    onError
  })
}

async function recover (queue: string, { redis, queues, canceller, mayRepeat }: UnservedJobsOptions): Promise<void> {
  const stem = jobKey(queue, '')
  const lost = fromRedis<Array<[id: string, type: string]>>(await redis.eval(lostScript, 1, queueKey(queue, 'active'), stem, atOnce))
  const left: string[] = []
  for (const [id, type] of lost) {
    const isEnded = !mayRepeat(type) && await canceller.endLost(queue, id, { code: 'WORKER_LOST', message: notRunAgain })
    if (!isEnded) left.push(id)
  }
  // The script needs two looks: the first one marks what the second one puts back. A lock that has run out since then is for the
  // next look: whether its job may run again was not asked yet, and what is put back ends only once a worker takes it.
  if (left.length > 0) await queues.open(queue).backend.moveStalledJobsToWait(left)
}
