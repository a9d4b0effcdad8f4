import { type Redis, queueKey, queueStem, whileAvailable, fromRedis } from '@toolyard/store'

/** It waits or runs, it has ended, or its record is not there. */
type JobStanding = 'open' | 'ended' | 'gone'

const standings: readonly JobStanding[] = ['open', 'ended', 'gone']
/** KEYS: completed, failed. ARGV: stem of the jobs' keys, ids. Most jobs have ended, and the first two commands find these. */
const standingScript = `
local ids = {unpack(ARGV, 2)}
local completed, failed = redis.call('ZMSCORE', KEYS[1], unpack(ids)), redis.call('ZMSCORE', KEYS[2], unpack(ids))
local standings = {}
for place, id in ipairs(ids) do
  if completed[place] or failed[place] then standings[place] = 1
  else standings[place] = 2 * (1 - redis.call('EXISTS', ARGV[1] .. id)) end
end
return standings
`
/** Jobs that one script looks at. */
const batchSize = 500

/**
 * Tells what has become of jobs of one queue, in their order.
 *
 * @throws RedisUnavailableError
 */
export async function standingOf (redis: Redis, queue: string, ids: readonly string[]): Promise<JobStanding[]> {
  const found: JobStanding[] = []
  for (let start = 0; start < ids.length; start += batchSize) {
    const part = ids.slice(start, start + batchSize)
    const looking = redis.eval(standingScript, 2, queueKey(queue, 'completed'), queueKey(queue, 'failed'), queueStem(queue), ...part)
    const answer = fromRedis<number[]>(await whileAvailable(looking))
    found.push(...part.map((_id, place) => standings[answer[place] ?? 0] ?? 'open'))
  }
  return found
}
