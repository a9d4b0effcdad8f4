import { limits } from '@toolyard/contract/terms'
import { type Redis, fromRedis, jobChannel, jobLogKey, rerunsField } from '@toolyard/store'
import { approvalField } from '../record/approval.ts'
import { answersField, askedField, questionField } from '../record/question.ts'
import { beganField } from '../record/job-times.ts'
import { wrapScript } from './scripts/job-scripts.ts'

/**
 * BullMQ's counter of stalls, a failure that it has put off, the mark of a canceller that died, what a workflow waited for
 * and when it began, who ran the job, that it was approved, and what it has asked.
 */
const leftovers = ['stc', 'defa', 'cancelled', 'seen', beganField, 'pb', approvalField, askedField, questionField, answersField]
/** The bulk change by which a job was run again last. */
const bulkField = 'wish'
/**
 * Puts a failed job back, with all its attempts and without what earlier runs left behind. KEYS: job, failed jobs, log. ARGV:
 * id; when the job ended, as the caller saw it; the bulk change, or nothing; the time for the log, and what else is said
 * there, or nothing; lines that a log keeps, and for how many seconds; the channel of those who watch the job; its turn.
 *
 * A process may stand still between what it read and this. So it is told which end is meant, and a bulk change runs a job
 * again once, also where a part of it is done twice. Answers `queued`, or why not.
 */
const script = wrapScript('reprocessJob', {
  keys: 3,
  args: 9,
  each: `
local id, endedAt, bulk, time, meta, lines, seconds, channel, priority = unpack(args, 1, 9)
local job, failed, log = unpack(keys, 1, 3)
if redis.call('EXISTS', job) == 0 then return 'missing' end
local state = redis.call('HMGET', job, 'finishedOn', '${bulkField}')
if not redis.call('ZSCORE', failed, id) or state[1] ~= endedAt then return 'unfailed' end
if bulk ~= '' and string.sub(state[2] or '', 1, #bulk) == bulk then return 'unfailed' end
redis.call('HINCRBY', job, '${rerunsField}', 1)
redis.call('HSET', job, 'priority', priority)
if bulk ~= '' then redis.call('HSET', job, '${bulkField}', bulk) end
redis.call('HDEL', job, ${leftovers.map(field => `'${field}'`).join(', ')})
local line = {'ts', time, 'level', 'info', 'message', 'Run again by an operator'}
if meta ~= '' then line[7], line[8] = 'meta', meta end
redis.call('XADD', log, 'MAXLEN', '~', lines, '*', unpack(line))
redis.call('EXPIRE', log, seconds)
bullmq()
redis.call('PUBLISH', channel, 'log')
redis.call('PUBLISH', channel, 'job')
return 'queued'
`
})

/** `unfailed` when the job waits, runs, or has ended otherwise or anew. */
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
  /** Of BullMQ, which says when it is its turn. */
  priority: number
}

/** Puts a failed job back, with all its attempts. */
export async function runAgain (
  backend: { redis: Redis, now: () => number, toKey: (part: string) => string }, { queue, id }: { queue: string, id: string },
  { endedAt, bulkId = '', meta, logSec, priority }: RunAgain
): Promise<RunAgainResult> {
  const toKey = (part: string): string => backend.toKey(part)
  const parts = ['events', 'failed', 'wait', 'meta', 'active', 'marker', 'prioritized', 'pc'].map(toKey)
  const said = [new Date(backend.now()).toISOString(), meta === undefined ? '' : JSON.stringify(meta), limits.logLines, logSec]
  const call = script.call(
    [toKey(id), ...parts, id, 'LPUSH', 'failedReason', 'failed', '1', '1'],
    [toKey(id), toKey('failed'), jobLogKey(queue, id)], [id, endedAt, bulkId, ...said, jobChannel(id), priority]
  )
  const [reply] = await script.script.run(backend.redis, [call])
  if (reply instanceof Error) throw reply
  return fromRedis(reply)
}
