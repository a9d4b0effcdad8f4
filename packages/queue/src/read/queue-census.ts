import type { CountedQueue } from '@toolyard/runtime'
import { type Redis, createdAt, queueStem, serverTime, whileAvailable, fromRedis } from '@toolyard/store'
import { readOptions } from '../record/new-job.ts'
import type { QueueDirectory } from '../queues/queue-directory.ts'

/** So many waiting jobs are looked at to find the oldest: those that are served next. */
const looked = 1_000

/** KEYS: prioritized, wait, paused, delayed, waiting-children, active, meta, held. ARGV: stem of the jobs' keys. */
const countScript = `
local oldest = ''
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, ${looked - 1})) do
  if oldest == '' or id < oldest then oldest = id end
end
local held = redis.call('ZLEXCOUNT', KEYS[8], '-', '(@')
local options = oldest ~= '' and redis.call('HGET', ARGV[1] .. oldest, 'opts') or '{}'
return {
  redis.call('ZCARD', KEYS[1]) + redis.call('LLEN', KEYS[2]) + redis.call('LLEN', KEYS[3]),
  math.max(0, redis.call('ZCARD', KEYS[4]) - held), redis.call('ZCARD', KEYS[5]), redis.call('LLEN', KEYS[6]), oldest, options or '{}',
  redis.call('HEXISTS', KEYS[7], 'paused'), held
}
`
const keys = ['prioritized', 'wait', 'paused', 'delayed', 'waiting-children', 'active', 'meta', 'held']

/**
 * Counts the unfinished jobs of all queues.
 *
 * @throws RedisUnavailableError
 */
export async function countQueues (redis: Redis, directory: QueueDirectory): Promise<CountedQueue[]> {
  const now = serverTime(redis)
  return await Promise.all((await directory.list()).map(async queue => {
    const stem = queueStem(queue)
    const answer = await whileAvailable(redis.eval(countScript, keys.length, ...keys.map(name => stem + name), stem))
    const [waiting, delayed, blocked, running, oldest, options, paused, held] =
      fromRedis<[number, number, number, number, string, string, number, number]>(answer)
    const { delay = 0 } = readOptions(options)
    const oldestSec = oldest === '' ? 0 : Math.max(0, now - createdAt(oldest) - delay) / 1_000
    return { queue, isPaused: paused === 1, waiting, delayed, blocked, held, running, oldestSec }
  }))
}
