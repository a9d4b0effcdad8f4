import type { JobQueues } from '../job-queues.ts'
import type { Retention } from '../retention.ts'

/** Jobs of each kind of end that one turn removes. */
const atOnce = 1_000

/** Removes the finished jobs of a queue that are older than they are kept: BullMQ does so only when another job ends. */
export async function removeOldJobs ({ queues, retention }: { queues: JobQueues, retention: Retention }, queue: string): Promise<void> {
  const opened = queues.open(queue)
  for (const end of ['completed', 'failed'] as const) {
    const removed = await opened.clean(retention.ageSec * 1_000, atOnce, end)
    if (removed.length > 0) await queues.index.drop(queue, removed)
  }
}
