import type { Redis } from '../redis/connection.ts'
import { runForGood, type Replicas } from '../redis/checks/replicas.ts'
import { BatchedScript, eachCall } from '../redis/commands/batched-script.ts'
import { goOnWhenFull } from '../redis/commands/when-full.ts'
import { sessionsKey } from '../redis/names.ts'
import { RedisUnavailableError, whileAvailable } from '../redis/unavailable.ts'

/*
 * Scripts over the records of sessions, which are in one slot of a Redis Cluster. KEYS[1] is the set of all sessions by id;
 * ARGV[1] is the stem of the other keys, and ARGV[2] is now by Redis' clock. A session is `open` until it is removed, or has
 * been without a call for its time to live; then it is `removing` until its directory is gone, and its record with it.
 */

/** Redis tells the time itself: a process that has just connected doesn't know it yet, and would remove sessions too early. */
const clock = `
local time = redis.call('TIME')
ARGV[2] = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
`
/** Calls that were accepted run where Redis is full, too, and sessions can be removed. */
const goOn = goOnWhenFull('KEYS[1]')

/**
 * Runs one of the scripts below. `args`: ARGV from the third on.
 *
 * @throws RedisUnavailableError
 */
export async function runSessionScript (redis: Redis, script: string, ...args: Array<string | number>): Promise<unknown> {
  // A worker's connection would keep the command, and send it when nobody waits for it any more.
  if (redis.status !== 'ready') throw new RedisUnavailableError()
  return await whileAvailable(redis.eval(`${clock}${script}`, 1, sessionsKey('all'), sessionsKey(''), '', ...args))
}

/** Removes a session for good: replicas know it before the answer, where they must. `args`: as for the others. */
export async function runRemoveScript (redis: Redis, replicas: Replicas | undefined, ...args: Array<string | number>): Promise<unknown> {
  if (redis.status !== 'ready') throw new RedisUnavailableError()
  return await runForGood(redis, replicas, removing, { keys: [sessionsKey('all')], args: [sessionsKey(''), '', ...args] })
}

/** Marks a session for removal, and sends a message to its calls. */
const mark = `
local function mark(stem, id, channel)
  redis.call('HSET', stem .. 'of:' .. id, 'state', 'removing')
  redis.call('ZREM', stem .. 'due', id)
  redis.call('SADD', stem .. 'removing', id)
  redis.call('PUBLISH', channel, id)
end
`
/**
 * The sum of an owner's quotas is kept: to add up those of 10,000 sessions holds Redis for 30 ms. It is counted anew now and then,
 * since an older release doesn't keep it.
 */
const countedSec = 60
const addQuota = `
local function addQuota(key, quota)
  local sum = redis.call('GET', key)
  if sum then redis.call('SET', key, string.format('%.0f', sum + quota), 'KEEPTTL') end
end
`
/** Fields of a record, in the order in which `sessionOf` takes them. */
const fields = "'tenant', 'key', 'ttl', 'quota', 'from', 'created', 'used', 'state', 'bytes'"

/**
 * ARGV: 3 the id, 4 its tenant or nothing, 5 its owner, 6 how many it may have, 7 how many bytes their quotas may come to, or 0,
 * 8 its own quota, 9.. fields. Answers a record, nothing where there are too many, or the bytes that are left where these are too few.
 */
export const makeScript = `
${addQuota}
local stem, now, id, tenant, owner = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if redis.call('ZCARD', stem .. 'owner:' .. owner) >= tonumber(ARGV[6]) then return false end
local record = stem .. 'of:' .. id
local left, quotas = tonumber(ARGV[7]), stem .. 'quotas:' .. owner
if left > 0 then
  local sum = redis.call('GET', quotas)
  if not sum then
    sum = 0
    for _, other in ipairs(redis.call('ZRANGE', stem .. 'owner:' .. owner, 0, -1)) do
      sum = sum + (redis.call('HGET', stem .. 'of:' .. other, 'quota') or 0)
    end
    redis.call('SET', quotas, string.format('%.0f', sum), 'EX', ${countedSec})
  end
  left = left - sum
  if left < tonumber(ARGV[8]) then return string.format('%.0f', math.max(0, left)) end
end
redis.call('HSET', record, 'tenant', tenant, 'owner', owner, 'created', now, 'used', now, 'state', 'open', 'quota', ARGV[8], unpack(ARGV, 9))
redis.call('ZADD', KEYS[1], 0, id)
redis.call('ZADD', stem .. 'owner:' .. owner, 0, id)
redis.call('ZADD', stem .. 'due', now + redis.call('HGET', record, 'ttl') * 1000, id)
addQuota(quotas, ARGV[8])
return redis.call('HMGET', record, ${fields})
`

/**
 * ARGV: 3 the id, 4 the tenant that asks or nothing, 5 `use` where it is about to be used, 6 the channel. Answers the fields
 * of the record, or nothing. A use renews the time to live.
 */
export const readScript = `
${mark}
local stem, now, id = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local record = stem .. 'of:' .. id
local tenant = redis.call('HGET', record, 'tenant')
if not tenant or (ARGV[4] ~= '' and tenant ~= ARGV[4]) then return false end
local due = redis.call('ZSCORE', stem .. 'due', id)
if due and tonumber(due) <= now then
  mark(stem, id, ARGV[6])
elseif due and ARGV[5] == 'use' then
  redis.call('HSET', record, 'used', ARGV[2])
  redis.call('ZADD', stem .. 'due', now + redis.call('HGET', record, 'ttl') * 1000, id)
end
return redis.call('HMGET', record, ${fields})
`

/** ARGV: 3 the owner or nothing, 4 the last id of the page before or nothing, 5 how many. Answers ids and fields, newest first. */
export const listScript = `
local stem = ARGV[1]
local index = ARGV[3] == '' and KEYS[1] or stem .. 'owner:' .. ARGV[3]
local ids = redis.call('ZREVRANGEBYLEX', index, ARGV[4] == '' and '+' or '(' .. ARGV[4], '-', 'LIMIT', 0, ARGV[5])
local page = {}
for _, id in ipairs(ids) do table.insert(page, {id, redis.call('HMGET', stem .. 'of:' .. id, ${fields})}) end
return page
`

/** ARGV: 3 the id, 4 the tenant that asks or nothing, 5 the channel. Answers the fields of the record, or nothing. */
const removeScript = `
${goOn}
${mark}
local stem, id = ARGV[1], ARGV[3]
local record = stem .. 'of:' .. id
local tenant = redis.call('HGET', record, 'tenant')
if not tenant or (ARGV[4] ~= '' and tenant ~= ARGV[4]) then return false end
mark(stem, id, ARGV[5])
return redis.call('HMGET', record, ${fields})
`

const removing = new BatchedScript('remove-session', eachCall(`${clock}${removeScript}`))

/** ARGV: 3 the id, 4 the holder, 5 how long the lease holds, 6 the channel. Answers the fields of the record, or nothing. */
export const enterScript = `
${goOn}
${mark}
local stem, now, id = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local record = stem .. 'of:' .. id
if redis.call('EXISTS', record) == 0 then return false end
local due = redis.call('ZSCORE', stem .. 'due', id)
if due and tonumber(due) <= now then
  mark(stem, id, ARGV[6])
elseif due then
  redis.call('ZADD', stem .. 'in:' .. id, now + ARGV[5], ARGV[4])
  redis.call('PEXPIRE', stem .. 'in:' .. id, ARGV[5] * 2)
  redis.call('HSET', record, 'used', ARGV[2])
  redis.call('ZADD', stem .. 'due', now + redis.call('HGET', record, 'ttl') * 1000, id)
end
return redis.call('HMGET', record, ${fields})
`

/** ARGV: 3 the holder, 4 how long leases hold, then an id, `stay` or `leave`, bytes or nothing, and so on. Answers who is removed. */
export const renewScript = `
${goOn}
local stem, now, holder = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local removed = {}
for at = 5, #ARGV, 3 do
  local id = ARGV[at]
  local record, leases = stem .. 'of:' .. id, stem .. 'in:' .. id
  local isOpen = redis.call('HGET', record, 'state') == 'open'
  if not isOpen then table.insert(removed, id) end
  if isOpen and ARGV[at + 2] ~= '' then redis.call('HSET', record, 'bytes', ARGV[at + 2]) end
  if ARGV[at + 1] == 'leave' then
    redis.call('ZREM', leases, holder)
  elseif redis.call('EXISTS', record) == 1 then
    redis.call('ZADD', leases, now + ARGV[4], holder)
    redis.call('PEXPIRE', leases, ARGV[4] * 2)
    if isOpen then
      redis.call('HSET', record, 'used', ARGV[2])
      redis.call('ZADD', stem .. 'due', now + redis.call('HGET', record, 'ttl') * 1000, id)
    end
  end
end
return removed
`

/** ARGV: 3 how many, 4 the channel. Answers ids of sessions that are to be removed and that have no lease. */
export const removableScript = `
${goOn}
${mark}
local stem, now = ARGV[1], ARGV[2]
for _, id in ipairs(redis.call('ZRANGEBYSCORE', stem .. 'due', '-inf', now, 'LIMIT', 0, ARGV[3])) do mark(stem, id, ARGV[4]) end
local free = {}
for _, id in ipairs(redis.call('SRANDMEMBER', stem .. 'removing', ARGV[3])) do
  redis.call('ZREMRANGEBYSCORE', stem .. 'in:' .. id, '-inf', now)
  if redis.call('EXISTS', stem .. 'in:' .. id) == 0 then table.insert(free, id) end
end
return free
`

/** ARGV: ids, of sessions that are being removed. */
export const forgetScript = `
${addQuota}
local stem = ARGV[1]
for at = 3, #ARGV do
  local id = ARGV[at]
  if redis.call('SREM', stem .. 'removing', id) == 1 then
    local owner = redis.call('HGET', stem .. 'of:' .. id, 'owner')
    if owner then
      redis.call('ZREM', stem .. 'owner:' .. owner, id)
      addQuota(stem .. 'quotas:' .. owner, -(redis.call('HGET', stem .. 'of:' .. id, 'quota') or 0))
    end
    redis.call('ZREM', KEYS[1], id)
    redis.call('DEL', stem .. 'of:' .. id, stem .. 'in:' .. id)
  end
end
`
