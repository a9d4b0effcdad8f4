import { limits } from '@toolyard/contract/terms'
import { arrivals, maxTurn, turnsKeptSec } from '../../record/turn.ts'

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
-- Those that BullMQ's script is about to make ready.
local function newTurnsOfDue (stem, now)
  local due = redis.call('ZRANGEBYSCORE', stem .. 'delayed', 0, string.format('%.0f', (now + 1) * 4096 - 1), 'LIMIT', 0, 1000)
  newTurns(stem, due)
end
`
