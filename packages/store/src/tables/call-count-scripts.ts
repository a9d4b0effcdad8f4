import { allCalls, BatchedScript } from '../redis/commands/batched-script.ts'

/*
 * The statistics are bounded: a day of minutes and hours, so many series, and so many pairs of a tool and a key in an hour. See
 * docs/decisions/0076-statistics.md.
 */

/** A day, and the hours at its ends. */
export const keptSec = 26 * 3_600
/** Series in all; of all jobs; of one tenant. */
const mostSeries = 300
const mostCommon = 200
const mostOfTenant = 40
/** Pairs of a tool and a key in an hour; beyond them a tenant has one for the rest, up to twice as many. */
const mostUsages = 1_000

/**
 * KEYS: the minute, the hour, the series with the minute in which each was counted last, how many each owner has. ARGV: the
 * minute; for how many seconds it is kept. ARGV of a call: the series, its owner, the one that is counted in its
 * stead or nothing, and what is counted, as JSON.
 */
export const countScript = new BatchedScript('count-calls', allCalls(`
local minute, hour, known, owners = unpack(KEYS)
local now, keptSec = tonumber(ARGV[2]), ARGV[3]
local function forget ()
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', known, '-inf', now - 1440, 'LIMIT', 0, ${mostSeries})) do
    redis.call('ZREM', known, name)
    local owner = string.match(name, '^[^|]*')
    if redis.call('HINCRBY', owners, owner, -1) <= 0 then redis.call('HDEL', owners, owner) end
  end
end
local hasForgotten = false
local function isFull (owner)
  local most = owner == '' and ${mostCommon} or ${mostOfTenant}
  return redis.call('ZCARD', known) >= ${mostSeries} or tonumber(redis.call('HGET', owners, owner) or 0) >= most
end
local function admit (name, owner)
  local last = redis.call('ZSCORE', known, name)
  if not last then
    if not hasForgotten and isFull(owner) then
      forget()
      hasForgotten = true
    end
    if isFull(owner) then return false end
    redis.call('HINCRBY', owners, owner, 1)
  end
  if not last or tonumber(last) < now then redis.call('ZADD', known, now, name) end
  return true
end
local function add (key, name, delta)
  local stored = redis.call('HGET', key, name)
  if stored then
    stored = cjson.decode(stored)
    for at = 1, 4 do delta[at] = delta[at] + stored[at] end
    for at = 5, 6 do
      for bucket, count in pairs(stored[at]) do delta[at][bucket] = (delta[at][bucket] or 0) + count end
    end
  end
  redis.call('HSET', key, name, cjson.encode(delta))
end
for _, call in ipairs(calls) do
  local name, owner, other, text = unpack(call)
  if not admit(name, owner) then name = other ~= '' and (owner == '' or admit(other, owner)) and other or nil end
  if name then
    add(minute, name, cjson.decode(text))
    add(hour, name, cjson.decode(text))
  end
end
for _, key in ipairs(KEYS) do redis.call('EXPIRE', key, keptSec) end
local replies = {}
for place = 1, #calls do replies[place] = 1 end
return replies
`))

/**
 * KEYS: the hour. ARGV: for how many seconds it is kept. ARGV of a call: the usage; the one that is counted in its stead; what
 * is counted, as JSON.
 */
export const countUsageScript = new BatchedScript('count-usage', allCalls(`
local replies = {}
for place, call in ipairs(calls) do
  local name, other, text = unpack(call)
  local delta, stored = cjson.decode(text), redis.call('HGET', KEYS[1], name)
  if not stored then
    local kept = redis.call('HLEN', KEYS[1])
    if kept >= ${mostUsages} then
      name = kept < 2 * ${mostUsages} and other or '["","",""]'
      stored = redis.call('HGET', KEYS[1], name)
    end
  end
  if stored then for at, number in ipairs(cjson.decode(stored)) do delta[at] = delta[at] + number end end
  redis.call('HSET', KEYS[1], name, cjson.encode(delta))
  replies[place] = 1
end
redis.call('EXPIRE', KEYS[1], ARGV[2])
return replies
`))
