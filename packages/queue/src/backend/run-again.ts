import { limits } from '@toolyard/contract/terms'
import { type Redis, fromRedis, jobChannel, jobLogKey } from '@toolyard/store'
import { jobScripts } from './scripts/job-scripts.ts'

/** What became of a job that was to be run again; `unfailed` when it waits, runs, or has ended otherwise or anew. */
export type RunAgainResult = 'queued' | 'missing' | 'unfailed'

/** Which failure of a job it is run again after, and what is said of it. */
export interface RunAgain {
  /** When it ended, by Redis' clock. */
  endedAt: number
  /** The bulk change that this is a part of. */
  bulkId?: string | undefined
  /** For the job's log, which is kept for so long. */
  meta?: Record<string, unknown> | undefined
  logSec: number
}

export interface RunAgainParts {
  redis: Redis
  queue: string
  /** Redis' time, in milliseconds since 1970. */
  now: number
  toKey: (part: string) => string
}

/** Puts a failed job back, with all its attempts. */
export async function runAgain (
  { redis, queue, now, toKey }: RunAgainParts, id: string, { endedAt, bulkId = '', meta, logSec }: RunAgain
): Promise<RunAgainResult> {
  const parts = ['events', 'failed', 'wait', 'meta', 'active', 'marker', 'prioritized', 'pc'].map(toKey)
  const said = [new Date(now).toISOString(), meta === undefined ? '' : JSON.stringify(meta), limits.logLines, logSec]
  const call = jobScripts.reprocessJob.call(
    [toKey(id), ...parts, id, 'LPUSH', 'failedReason', 'failed', '1', '1'],
    [toKey(id), toKey('failed'), jobLogKey(queue, id)], [id, endedAt, bulkId, ...said, jobChannel(id)]
  )
  const [reply] = await jobScripts.reprocessJob.script.run(redis, [call])
  if (reply instanceof Error) throw reply
  return fromRedis(reply)
}
