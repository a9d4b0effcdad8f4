import { fromRedis, jobKey, whileAvailable, type Redis } from '@toolyard/store'
import { questionField } from '../record/question.ts'
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
