import type { Queue } from 'bullmq'
import { type Redis, jobKey, queueStem, serverTime, tenantLineKey } from '@toolyard/store'

export interface FlowParts {
  redis: Redis
  queues: { open: (queue: string) => Queue }
}

/** Whoever waits for jobs hears when the first of the delayed ones is due. */
export const markPart = `
local function mark (delayed, marker)
  local due = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')[2]
  if due then redis.call('ZADD', marker, due / 4096, '1') end
end
`

/**
 * Puts a parked job among the delayed ones, as one that is due: from there BullMQ makes it ready by itself, should the
 * caller die before it does. KEYS: waiting-children, delayed, marker. ARGV: id, when it is due in milliseconds.
 */
const unparkScript = `
${markPart}
if redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('ZADD', KEYS[2], ARGV[2] * 4096, ARGV[1])
mark(KEYS[2], KEYS[3])
return 1
`

/**
 * Lets a job go on that is parked (BullMQ's state `waiting-children`); any other job is left as it is.
 *
 * @param dueAt not before this time, in milliseconds since 1970 by Redis' clock.
 * @returns whether it was parked.
 */
export async function release ({ redis, queues }: FlowParts, queue: string, jobId: string, dueAt = 0): Promise<boolean> {
  const stem = queueStem(queue)
  const now = serverTime(redis)
  const keys = [`${stem}waiting-children`, `${stem}delayed`, `${stem}marker`]
  if (await redis.eval(unparkScript, keys.length, ...keys, jobId, Math.max(now, dueAt)) !== 1) return false
  if (dueAt <= now) await promote(queues, { queue, id: jobId })
  return true
}

/** Lets a delayed job go on now; one that isn't delayed needs no waking: another process may be faster. */
export async function promote (queues: FlowParts['queues'], { queue, id }: { queue: string, id: string }): Promise<void> {
  const job = await queues.open(queue).getJob(id)
  await job?.promote().catch(() => {})
}

/** In the line of its tenant, where it waits for a place. */
export function memberOfLine ({ queue, id }: { queue: string, id: string }): string {
  return `${id} ${queue}`
}

/** To be called for a job that has ended without a run: it would be woken in place of one that can run. */
export async function leaveTenantLine (redis: Redis, tenant: string, job: { queue: string, id: string }): Promise<void> {
  await redis.zrem(tenantLineKey(tenant), memberOfLine(job))
}

/** A job waits for a person: a field of its record, its `state`, and the name of the time when that ends. */
export interface WaitRecord {
  field: string
  state: string
  ends: string
}

/** KEYS: job, delayed. ARGV: id, field, state, name of the time. Answers whether the job still waits. */
const restScript = `
local text = redis.call('HGET', KEYS[1], ARGV[2])
local record = text and cjson.decode(text)
if not record or record.state ~= ARGV[3] then return 0 end
redis.call('ZADD', KEYS[2], 'XX', record[ARGV[4]] * 4096, ARGV[1])
return 1
`

/** Lets a delayed job rest until its time to wait for a person is over; one that need not wait any more goes on now. */
export async function rest (
  { redis, queues }: FlowParts, job: { queue: string, id: string }, { field, state, ends }: WaitRecord
): Promise<void> {
  const { queue, id } = job
  const waits = await redis.eval(restScript, 2, jobKey(queue, id), `${queueStem(queue)}delayed`, id, field, state, ends)
  if (waits !== 1) await promote(queues, job)
}

export async function settledSteps (redis: Redis, queue: string, id: string): Promise<number> {
  const key = jobKey(queue, id)
  const [processed, failed] = await Promise.all([redis.hlen(`${key}:processed`), redis.hlen(`${key}:failed`)])
  return processed + failed
}
