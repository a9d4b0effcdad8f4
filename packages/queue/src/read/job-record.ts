import { fromRedis, jobKey, whileAvailable, type Redis } from '@toolyard/store'
import { approvalField, decodeApproval, isHeld } from '../record/approval.ts'
import { askedField, decodeAsked, questionField } from '../record/question.ts'
import { recordFields } from './job-summary.ts'
import { smallBytes, type LargeReads } from './large-reads.ts'

const fields = ['name', 'data', 'priority', 'returnvalue', questionField, ...recordFields] as const
/** The fields of a record; of a large one how many bytes they have. ARGV: the bytes from which on it is large, the fields. */
const recordScript = `
local bytes = 0
for _, field in ipairs({'data', 'failedReason', '${questionField}'}) do bytes = bytes + redis.call('HSTRLEN', KEYS[1], field) end
if bytes >= tonumber(ARGV[1]) then return bytes end
return redis.call('HMGET', KEYS[1], unpack(ARGV, 2))
`

/** The fields of a job's record: name, data, priority, output and questions, and those of `recordFields`. @throws RedisUnavailableError */
export async function readRecord (
  { redis, reads }: { redis: Redis, reads: LargeReads }, queue: string, id: string
): Promise<Array<string | null>> {
  const key = jobKey(queue, id)
  const found = fromRedis<Array<string | null> | number>(await whileAvailable(redis.eval(recordScript, 1, key, smallBytes, ...fields)))
  if (typeof found !== 'number') return found
  return await reads.read({ queue, id }, found, async () => await whileAvailable(redis.hmget(key, ...fields)))
}

/** How far a job is, and what it waits for: the numbers of its open questions, or since when it is held, in milliseconds. */
export type JobStage = { kind: 'missing' | 'over' | 'goes on' } | { kind: 'asks', numbers: readonly number[] } | { kind: 'held', since: number }

/** None of the fields is large, whatever arguments, questions or output the job has. @throws RedisUnavailableError */
export async function readStage (redis: Redis, queue: string, jobId: string): Promise<JobStage> {
  const fields = ['timestamp', 'finishedOn', 'cancelled', 'opts', approvalField, askedField] as const
  const [timestamp, finishedOn, mark, options, approval, asked] = await whileAvailable(redis.hmget(jobKey(queue, jobId), ...fields))
  if (timestamp == null) return { kind: 'missing' }
  if (finishedOn !== null || mark !== null) return { kind: 'over' }
  if (isHeld(options, approval)) return { kind: 'held', since: decodeApproval(approval)?.heldAt ?? Number(timestamp) }
  const question = decodeAsked(asked)
  return question?.state === 'asked' ? { kind: 'asks', numbers: question.open ?? [question.number] } : { kind: 'goes on' }
}
