/*
 * Scripts over the records of sessions, which are in one slot of a Redis Cluster. KEYS[1] is the set of all sessions by id;
 * ARGV[1] is the stem of the other keys, and ARGV[2] is now by Redis' clock. A session is `open` until it is removed, or has
 * been without a call for its time to live; then it is `removing` until its directory is gone, and its record with it.
 */

/** Marks a session as one that is to be removed; its calls hear of it. */
const mark = `
local function mark(stem, id, channel)
  redis.call('HSET', stem .. 'of:' .. id, 'state', 'removing')
  redis.call('ZREM', stem .. 'due', id)
  redis.call('SADD', stem .. 'removing', id)
  redis.call('PUBLISH', channel, id)
end
`
/** What is read of a record, in the order in which `sessionOf` takes it. */
const fields = "'tenant', 'key', 'ttl', 'quota', 'from', 'created', 'used', 'state', 'bytes'"

/** ARGV: 3 the id, 4 its tenant or nothing, 5 its owner, 6 how many an owner may have, 7.. fields. Answers 1; 0 for too many. */
export const makeScript = `
local stem, now, id, tenant, owner = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if redis.call('ZCARD', stem .. 'owner:' .. owner) >= tonumber(ARGV[6]) then return 0 end
local record = stem .. 'of:' .. id
redis.call('HSET', record, 'tenant', tenant, 'owner', owner, 'created', now, 'used', now, 'state', 'open', unpack(ARGV, 7))
redis.call('ZADD', KEYS[1], 0, id)
redis.call('ZADD', stem .. 'owner:' .. owner, 0, id)
redis.call('ZADD', stem .. 'due', now + redis.call('HGET', record, 'ttl') * 1000, id)
return 1
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
export const removeScript = `
${mark}
local stem, id = ARGV[1], ARGV[3]
local record = stem .. 'of:' .. id
local tenant = redis.call('HGET', record, 'tenant')
if not tenant or (ARGV[4] ~= '' and tenant ~= ARGV[4]) then return false end
mark(stem, id, ARGV[5])
return redis.call('HMGET', record, ${fields})
`
