import { limits } from '@toolyard/contract/terms'
import { BatchedScript, eachCall, goOnWhenFull } from '@toolyard/store'
import { arrivals, maxTurn, turnsKeptSec } from '../../record/turn.ts'

/** Due jobs that one script makes ready: while it does, Redis does nothing else. */
export const dueAtOnce = 100

/**
 * Jobs that wait for a time, for other jobs or for an approval take their turns when that is over. Else a tenant could submit any
 * number of them in advance, and they would run before the jobs of all others. A job that was taken before keeps its turn. A
 * tenant has one line for such jobs, beside those of its keys. Keys without a tenant share one.
 */
export const newTurns = `
local function newTurns (stem, ids)
  local lines = {}
  for _, id in ipairs(ids) do
    local job = redis.call('HMGET', stem .. id, 'priority', 'ats', 'opts')
    local priority = tonumber(job[1]) or 0
    if priority > 0 and not job[2] then
      local band = math.floor((priority - 1) / ${maxTurn})
      local turns = stem .. 'turns:' .. string.format('%.0f', ${limits.priority.max} - band)
      local known, opts = pcall(cjson.decode, job[3] or '{}')
      local owner = '+' .. (known and type(opts.tenant) == 'string' and opts.tenant or '')
      local line = lines[turns .. owner]
      if not line then
        local from = (band * ${maxTurn} + 1) * ${arrivals}
        local to = string.format('%.0f', from + ${maxTurn} * ${arrivals} - 1)
        local first = redis.call('ZRANGEBYSCORE', stem .. 'prioritized', string.format('%.0f', from), to, 'WITHSCORES', 'LIMIT', 0, 1)
        local least = first[2] and math.floor((first[2] - from) / ${arrivals}) + 1 or 1
        line = {turns = turns, owner = owner, next = math.max(least, first[2] and (redis.call('HGET', turns, owner) or 0) + 1 or 1)}
        lines[turns .. owner] = line
      end
      redis.call('HSET', stem .. id, 'priority', string.format('%.0f', band * ${maxTurn} + math.min(line.next, ${maxTurn})))
      line.next = line.next + 1
    end
  end
  for _, line in pairs(lines) do
    redis.call('HSET', line.turns, line.owner, string.format('%.0f', line.next - 1))
    redis.call('EXPIRE', line.turns, ${turnsKeptSec})
  end
end
`

export const readyDueKeys = ['meta', 'delayed', 'prioritized', 'wait', 'pc', 'marker'] as const
/** ARGV: the stem of the jobs' keys; the time. Makes due jobs ready as BullMQ's script does that takes a job. Answers how many. */
export const readyDueScript = new BatchedScript('ready-due', eachCall(`
${newTurns}
local meta, delayed, prioritized, wait, counter, marker = unpack(KEYS)
local stem, now = unpack(ARGV)
${goOnWhenFull('meta')}
local due = redis.call('ZRANGEBYSCORE', delayed, 0, string.format('%.0f', (now + 1) * 4096 - 1), 'LIMIT', 0, ${dueAtOnce})
if #due == 0 then return 0 end
newTurns(stem, due)
redis.call('ZREM', delayed, unpack(due))
for _, id in ipairs(due) do
  local priority = tonumber(redis.call('HGET', stem .. id, 'priority')) or 0
  if priority == 0 then
    redis.call('LPUSH', wait, id)
  else
    redis.call('ZADD', prioritized, string.format('%.0f', priority * ${arrivals} + redis.call('INCR', counter) % ${arrivals}), id)
  end
  redis.call('HSET', stem .. id, 'delay', 0)
end
if redis.call('HEXISTS', meta, 'paused') == 0 then redis.call('ZADD', marker, '0', '0') end
return #due
`))
