import type { Hold } from '@toolyard/contract'
import { BatchedScript, eachCall, fromRedis, goOnWhenFull, jobChannel, jobKey, jobPartKey, queueKey, runForGood, type Redis, type Replicas } from '@toolyard/store'
import { markPart } from './release.ts'
import { approvalField, decodeApproval, heldKey, type ApprovalRecord, type DecidingKey, type HeldAgain } from '../record/approval.ts'

/*
 * Jobs that wait for an approval. Such a job is delayed until its approval expires: it takes no worker's place, costs nothing
 * but its bytes, and ends by itself. The index `held` has their entries, as `created` has those of all jobs.
 *
 * Who approves a job makes it due. Whoever takes a job asks here first, whatever made it due: a job without an approval is
 * parked again, or ends. Redis' own clock says when an approval expires.
 */

/** The record of a job's approval, or the first one that it would have. */
const read = `
local function read (key, digest, seconds, now)
  local text = redis.call('HGET', key, '${approvalField}')
  if text then return cjson.decode(text) end
  local times = redis.call('HMGET', key, 'timestamp', 'reruns')
  local at = times[2] and now or tonumber(times[1])
  return {state = 'held', digest = digest, heldAt = at, expiresAt = at + seconds * 1000}
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`
/** Takes a job out of the index. A member is the id, a space and more, behind the tenant where there is one. */
export const leavePart = `
local function leave (key, id, tenant)
  redis.call('ZREMRANGEBYLEX', key, '[' .. id .. ' ', '(' .. id .. '!')
  if tenant ~= '' then redis.call('ZREMRANGEBYLEX', key, '[@' .. tenant .. ' ' .. id .. ' ', '(@' .. tenant .. ' ' .. id .. '!') end
end
`

/**
 * KEYS: job, held, delayed, marker. ARGV: id, tenant or nothing, digest and seconds of its hold, how many must approve, its own delay; name
 * and id of the key, decision, reason or nothing, digest that was decided about; channel; those of earlier keys that are revoked.
 * Answers what became of it, and the record. It writes each time, so that a repeat waits for replicas as well.
 */
const decideScript = new BatchedScript('decide', eachCall(`
${read}${leavePart}${markPart}
local id, tenant, first, seconds, needed, delay, who, whoId, decision, reason, digest, channel, revoked = unpack(ARGV)
local job = redis.call('HMGET', KEYS[1], 'timestamp', 'finishedOn', 'cancelled')
if not job[1] then return {'missing', ''} end
redis.call('HINCRBY', KEYS[1], 'priority', 0)
local record = read(KEYS[1], first, seconds, now)
local isRevoked = {}
for _, name in ipairs(cjson.decode(revoked)) do isRevoked[name] = true end
local decisions, approvers, approved = record.decisions or {}, {[who] = true}, 0
for _, earlier in ipairs(decisions) do
  -- What was revoked doesn't count: a key of the settings that may decide again has to say it again.
  local isSame = earlier.key == who and (earlier.keyId or '') == whoId and not earlier.revoked
  if isSame and earlier.decision == decision and record.digest == digest then return {'done', cjson.encode(record)} end
  if isRevoked[earlier.key .. ' ' .. (earlier.keyId or '')] then earlier.revoked = true end
  -- A name counts once, whichever of its keys spoke.
  if earlier.decision == 'approve' and not earlier.revoked and not approvers[earlier.key] then
    approvers[earlier.key], approved = true, approved + 1
  end
end
if record.state ~= 'held' then return {'decided', cjson.encode(record)} end
if job[2] or job[3] then return {'ended', cjson.encode(record)} end
if record.digest ~= digest then return {'changed', cjson.encode(record)} end
if now >= record.expiresAt then return {'expired', cjson.encode(record)} end
${goOnWhenFull('KEYS[1]')}
local entry = {key = who, decision = decision, at = now}
if whoId ~= '' then entry.keyId = whoId end
if reason ~= '' then entry.reason = reason end
table.insert(decisions, entry)
record.decisions = decisions
if decision == 'deny' then
  record.state = 'denied'
elseif approved + 1 >= tonumber(needed) then
  record.state, record.approvedAt = 'approved', now
end
local text = cjson.encode(record)
redis.call('HSET', KEYS[1], '${approvalField}', text)
if record.state ~= 'held' then leave(KEYS[2], id, tenant) end
if record.state ~= 'held' then
  if record.state == 'denied' then delay = 0 end
  redis.call('HSET', KEYS[1], 'delay', delay)
  -- From there BullMQ makes it ready by itself, should the caller die before it does.
  redis.call('ZADD', KEYS[3], 'XX', math.max(now, job[1] + delay) * 4096, id)
  mark(KEYS[3], KEYS[4])
end
redis.call('PUBLISH', channel, 'job')
return {record.state, text}
`))

/**
 * KEYS: job, held, lock. ARGV: token, id, tenant or nothing, digest and seconds of its hold, entries of the index. Answers the
 * state, the milliseconds until it expires, and the digest; nothing for a job that is another worker's by now.
 */
const admitScript = `
if redis.call('GET', KEYS[3]) ~= ARGV[1] then return {} end
${read}${leavePart}
local id, tenant, first, seconds = unpack(ARGV, 2, 5)
local record = read(KEYS[1], first, seconds, now)
if record.state ~= 'held' then return {record.state, 0, record.digest} end
${goOnWhenFull('KEYS[1]')}
if now >= record.expiresAt then record.state = 'expired' end
redis.call('HSET', KEYS[1], '${approvalField}', cjson.encode(record))
if record.state == 'expired' then
  leave(KEYS[2], id, tenant)
else
  for at = 6, #ARGV do redis.call('ZADD', KEYS[2], 0, ARGV[at]) end
end
return {record.state, record.expiresAt - now, record.digest}
`

/**
 * KEYS: job, held, lock. ARGV: token, seconds of its hold, channel, what the record says beside its times as JSON, entries of the
 * index. Answers the milliseconds until it expires; nothing for a job that is another worker's by now.
 */
const holdAgainScript = `
if redis.call('GET', KEYS[3]) ~= ARGV[1] then return '' end
${read}
${goOnWhenFull('KEYS[1]')}
local ms = ARGV[2] * 1000
local record = cjson.decode(ARGV[4])
record.state, record.heldAt, record.expiresAt = 'held', now, now + ms
redis.call('HSET', KEYS[1], '${approvalField}', cjson.encode(record))
for at = 5, #ARGV do redis.call('ZADD', KEYS[2], 0, ARGV[at]) end
redis.call('PUBLISH', ARGV[3], 'job')
return ms
`

const leaveScript = `${leavePart}\nleave(KEYS[1], ARGV[1], ARGV[2])`

export interface HeldJob {
  queue: string
  id: string
  tenant: string | undefined
  hold: Hold
}

export interface Decision extends DecidingKey {
  decision: 'approve' | 'deny'
  reason?: string | undefined
  /** Of what was shown. */
  digest: string
}

/**
 * `held`: more keys must approve. `done`: this key has said the same before. `decided`, `ended`,
 * `expired`: it is too late. `changed`: something else was shown.
 */
export type DecisionResult = 'approved' | 'denied' | 'held' | 'done' | 'decided' | 'ended' | 'changed' | 'expired' | 'missing'

/**
 * Notes a decision about a held job, once, and for good: replicas know it before anybody is told.
 *
 * @param revoked keys that have decided before and are not there any more, or may not decide any more: what they said doesn't count
 * @throws RedisUnavailableError, after which it may be noted
 */
export async function decide (
  { redis, replicas }: { redis: Redis, replicas: Replicas | undefined },
  { queue, id, tenant = '', hold }: HeldJob, decision: Decision, revoked: readonly DecidingKey[]
): Promise<{ result: DecisionResult, record: ApprovalRecord | undefined }> {
  const keys = [jobKey(queue, id), heldKey(queue), queueKey(queue, 'delayed'), queueKey(queue, 'marker')]
  const about = [id, tenant, hold.digest, hold.expiresSec, hold.approvers, hold.delayMs ?? 0]
  const { key, keyId = '', reason = '', digest } = decision
  const gone = JSON.stringify(revoked.map(each => `${each.key} ${each.keyId ?? ''}`))
  const args = [...about, key, keyId, decision.decision, reason, digest, jobChannel(id), gone]
  const [result, text] = fromRedis<[DecisionResult, string]>(await runForGood(redis, replicas, decideScript, { keys, args }))
  return { result, record: text === '' ? undefined : decodeApproval(text) }
}

/** The worker that has taken a job: its token, and what stands in the index for the job. */
interface Taker {
  token: string
  entries: readonly string[]
}

/** Tells whether a job that a worker has taken may run; undefined for one that is another worker's by now. */
export async function admitHeld (
  redis: Redis, { queue, id, tenant = '', hold }: HeldJob, { token, entries }: Taker
): Promise<{ state: ApprovalRecord['state'], leftMs: number, digest: string } | undefined> {
  const [state, leftMs = 0, digest = ''] = fromRedis<[ApprovalRecord['state']?, number?, string?]>(await redis.eval(
    admitScript, 3, ...keysOf(queue, id), token, id, tenant, hold.digest, hold.expiresSec, ...entries
  ))
  return state === undefined ? undefined : { state, leftMs, digest }
}

/**
 * Takes an approval back: what would run isn't what was approved. Answers for how many milliseconds it is held; undefined for a
 * job that is another worker's by now.
 */
export async function holdAgain (
  redis: Redis, { queue, id, hold }: HeldJob, { digest, changed, program }: HeldAgain, { token, entries }: Taker
): Promise<number | undefined> {
  const args = [token, hold.expiresSec, jobChannel(id), JSON.stringify({ digest, changed, program }), ...entries]
  const ms = await redis.eval(holdAgainScript, 3, ...keysOf(queue, id), ...args)
  return ms === '' ? undefined : Number(ms)
}

function keysOf (queue: string, id: string): [job: string, held: string, lock: string] {
  return [jobKey(queue, id), heldKey(queue), jobPartKey(queue, id, 'lock')]
}

export async function leaveHeld (redis: Redis, queue: string, id: string, tenant = ''): Promise<void> {
  await redis.eval(leaveScript, 1, heldKey(queue), id, tenant)
}
