import { hasEnded } from '../change/job-flow.ts'
import type { JobCanceller } from '../change/job-canceller.ts'
import { heldKey } from '../record/approval.ts'
import { goOnWhenFull, queueKey, queueStem, type Redis, fromRedis } from '@toolyard/store'

/** Jobs of a queue that wait for a person, which one look reads, whichever they are. */
const heldAtOnce = 200

/**
 * Finds the steps among the jobs that run or wait for a person. Jobs that have ended leave the index of those that wait. KEYS: active,
 * held. ARGV: stem of the jobs' keys; how many that wait are looked at. Answers ids and the keys of their parents, in turn.
 */
const stepsScript = `
local found = {}
local function note (id, parent)
  if not parent then return end
  table.insert(found, id)
  table.insert(found, parent)
end
for _, id in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do note(id, redis.call('HGET', ARGV[1] .. id, 'parentKey')) end
for _, member in ipairs(redis.call('ZRANDMEMBER', KEYS[2], ARGV[2])) do
  local id = string.match(member, '^@[^ ]* ([^ ]+)') or string.match(member, '^[^ ]+')
  local job = redis.call('HMGET', ARGV[1] .. id, 'timestamp', 'finishedOn', 'parentKey')
  if job[1] and not job[2] then note(id, job[3]) else
    ${goOnWhenFull('KEYS[2]')}
    redis.call('ZREM', KEYS[2], member)
  end
end
return found
`

/**
 * Cancels the steps that run on, or wait for a person, though the job that made them has ended: who ended it, or cancelled it, died
 * before it could cancel them. Other steps that wait need no look: they end when a worker takes them, which is soon. Who ended a job
 * may have died as well before it left the index of those that wait for a person.
 */
export async function cancelOrphanedSteps ({ redis, canceller }: { redis: Redis, canceller: JobCanceller }, queue: string): Promise<void> {
  const keys = [queueKey(queue, 'active'), heldKey(queue)]
  const found = fromRedis<string[]>(await redis.eval(stepsScript, keys.length, ...keys, queueStem(queue), heldAtOnce))
  for (let at = 0; at < found.length; at += 2) {
    const [id = '', parentKey = ''] = found.slice(at, at + 2)
    if (await hasEnded({ redis }, parentKey)) await canceller.cancel(queue, id)
  }
}
