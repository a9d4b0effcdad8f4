import { hasEnded } from '../change/job-flow.ts'
import type { JobCanceller } from '../change/job-canceller.ts'
import { queueKey, queueStem, type Redis, fromRedis } from '@toolyard/store'

/**
 * Finds the steps among the jobs that run. KEYS: active. ARGV: stem of the jobs'
 * keys. Answers ids and the keys of their parents, in turn.
 */
const stepsScript = `
local found = {}
for _, id in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  local parent = redis.call('HGET', ARGV[1] .. id, 'parentKey')
  if parent then
    table.insert(found, id)
    table.insert(found, parent)
  end
end
return found
`

/**
 * Cancels the steps that run on though the job that made them has ended: who ended it, or cancelled it, died before it
 * could cancel them. Steps that wait need no look: they end when a worker takes them.
 */
export async function cancelOrphanedSteps ({ redis, canceller }: { redis: Redis, canceller: JobCanceller }, queue: string): Promise<void> {
  const found = fromRedis<string[]>(await redis.eval(stepsScript, 1, queueKey(queue, 'active'), queueStem(queue)))
  for (let at = 0; at < found.length; at += 2) {
    const [id = '', parentKey = ''] = found.slice(at, at + 2)
    if (await hasEnded({ redis }, parentKey)) await canceller.cancel(queue, id)
  }
}
