import { type Redis, serialKey, serialToolsKey, goOnWhenFull } from '@toolyard/store'

/*
 * The lock of serial tools in Redis. KEYS of the scripts that begin with `shared`: a tool's line, its lock, and its turns. The
 * line is a sorted set of members `id|queue`, whose scores are twice the number of their owner, and one more for jobs of a queue that
 * is behind; the turns are the owners by when they had the tool last; the lock is a hash of who holds the tool, with which token, who
 * was called when, by Redis' own clock, of the owners' numbers, and of the queues that are behind. All scripts go on where Redis is
 * full: jobs that were accepted run.
 */

const shared = `
${goOnWhenFull('KEYS[1]')}
local line, lock, turns = KEYS[1], KEYS[2], KEYS[3]
local function numberOf (owner)
  local number = redis.call('HGET', lock, 'owner:' .. owner)
  if not number then
    number = redis.call('HINCRBY', lock, 'owners', 1)
    redis.call('HSET', lock, 'owner:' .. owner, number)
    redis.call('ZADD', turns, 0, owner)
  end
  return number
end
local function first ()
  for behind = 0, 1 do
    for _, owner in ipairs(redis.call('ZRANGE', turns, 0, -1)) do
      local score = 2 * numberOf(owner) + behind
      local member = redis.call('ZRANGEBYSCORE', line, score, score, 'LIMIT', 0, 1)[1]
      if member then return member end
      -- One that comes again has its turn before those that had it later, as it would have had.
      if behind == 0 and redis.call('ZCOUNT', line, score, score + 1) == 0 then
        redis.call('ZREM', turns, owner)
        redis.call('HDEL', lock, 'owner:' .. owner)
      end
    end
  end
  -- A process of another release has entered it.
  return redis.call('ZRANGE', line, 0, 0)[1]
end
`
/**
 * Puts a job into the line; with ARGV[4], gives it the tool when it can have it; `returns` for one of a queue that is behind, whose jobs
 * come before it: see `moveScript`. ARGV: member, token, queue, 1 to hold, owner.
 */
export const enterScript = `
${shared}
local state = redis.call('HMGET', lock, 'holder', 'called')
if state[2] == ARGV[1] then redis.call('HDEL', lock, 'called', 'calledAt') end
if state[1] == ARGV[1] then
  redis.call('HSET', lock, 'token', ARGV[2])
  return 'holds'
end
if redis.call('HEXISTS', lock, 'behind:' .. ARGV[3]) == 1 then return 'returns' end
redis.call('ZADD', line, 2 * numberOf(ARGV[5]), ARGV[1])
if state[1] then return 'held' end
if first() ~= ARGV[1] then return 'behind' end
if ARGV[4] ~= '1' then return 'first' end
redis.call('ZREM', line, ARGV[1])
redis.call('ZADD', turns, redis.call('HINCRBY', lock, 'runs', 1), ARGV[5])
redis.call('HSET', lock, 'holder', ARGV[1], 'token', ARGV[2])
return 'holds'
`
/** Frees the tool, if this run of the job holds it, and takes the job out of the line. ARGV: member, token. */
export const leaveScript = `
${shared}
redis.call('ZREM', line, ARGV[1])
local state = redis.call('HMGET', lock, 'holder', 'token')
if state[1] == ARGV[1] and state[2] == ARGV[2] then redis.call('HDEL', lock, 'holder', 'token') end
return 1
`
/**
 * Calls the first in line, where the tool is free. ARGV: how long a called job is waited for; who was just parked, or
 * nothing; 1 where that one only wants to know whether it was called meanwhile.
 */
export const callScript = `
${shared}
local state = redis.call('HMGET', lock, 'holder', 'token', 'called', 'calledAt')
if state[1] then return {'held', state[1], state[2]} end
local next = first()
if not next then
  redis.call('DEL', lock, turns)
  return {'idle'}
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if ARGV[3] == '1' and state[3] ~= ARGV[2] then return {'waits', next} end
if state[3] == next and next ~= ARGV[2] then
  return {now - state[4] < tonumber(ARGV[1]) and 'waits' or 'late', next}
end
redis.call('HSET', lock, 'called', next, 'calledAt', string.format('%.0f', now))
return {'call', next}
`
/** Jobs in the line that one script looks at: while it does, Redis does nothing else, and a queue may have any number of them there. */
const movedAtOnce = 500
/**
 * Puts jobs of a queue behind all others, or back to their places, some at a time. ARGV: a cursor; queue; 1 to put them behind, else 0.
 * Answers the next cursor, `0` at the end. Whoever begins anew, or at the same time, does no harm.
 */
export const moveScript = `
${shared}
local next, found = unpack(redis.call('ZSCAN', line, ARGV[1], 'COUNT', ${movedAtOnce}))
for at = 1, #found, 2 do
  local score = tonumber(found[at + 1])
  if string.sub(found[at], -#ARGV[2] - 1) == '|' .. ARGV[2] and score % 2 ~= tonumber(ARGV[3]) then
    redis.call('ZADD', line, score - score % 2 + ARGV[3], found[at])
  end
end
if next == '0' and ARGV[3] == '0' then redis.call('HDEL', lock, 'behind:' .. ARGV[2]) end
return next
`
/**
 * A called job has not come, and those of its queue are behind: they are called again in their turn. Its owner has had one, or it would be
 * called again at once. ARGV: member, queue.
 */
export const behindScript = `
${shared}
local number = math.floor((redis.call('ZSCORE', line, ARGV[1]) or 0) / 2)
for _, owner in ipairs(redis.call('ZRANGE', turns, 0, -1)) do
  if tonumber(numberOf(owner)) == number then redis.call('ZADD', turns, redis.call('HINCRBY', lock, 'runs', 1), owner) end
end
redis.call('HSET', lock, 'behind:' .. ARGV[2], '1')
if redis.call('HGET', lock, 'called') == ARGV[1] then redis.call('HDEL', lock, 'called', 'calledAt') end
return 1
`
/** Notes that a job has entered, where it is. KEYS: job. */
export const noteScript = `${goOnWhenFull('KEYS[1]')}
return redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HSET', KEYS[1], 'entered', '1') or 0
`
/** Whether an earlier job of the tool was taken and has not entered yet. KEYS: active. ARGV: stem of the jobs' keys, type, id. */
export const comingScript = `
for _, id in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  if id < ARGV[3] then
    local job = redis.call('HMGET', ARGV[1] .. id, 'name', 'entered')
    if job[1] == ARGV[2] and not job[2] and redis.call('EXISTS', ARGV[1] .. id .. ':lock') == 1 then return 1 end
  end
end
return 0
`

/** A worker that takes such a job says so too, also where Redis is full. */
const memberScript = `${goOnWhenFull('KEYS[1]')}\nreturn redis.call('SADD', KEYS[1], ARGV[1])`

/** Makes known that a queue has jobs of a serial tool, so that jobs of other queues give way to earlier ones there. */
export async function registerSerial (redis: Redis, { tool, queue }: { tool: string, queue: string }): Promise<void> {
  await Promise.all([redis.eval(memberScript, 1, serialKey(tool, 'queues'), queue), redis.eval(memberScript, 1, serialToolsKey, tool)])
}
