import { allCalls, BatchedScript, madePart, goOnWhenFull } from '@toolyard/store'
import { unbegunField } from './job-scripts.ts'
import { outputTailSec } from '../../record/retention.ts'

/*
 * The work of BullMQ's scripts on a job, for all jobs of a command at once, where the jobs are plain: due at once, with a
 * priority, and of no flow. They leave in Redis what BullMQ's would, but for its event stream and its counter of ids.
 * They leave other jobs as they are and say so; BullMQ's own scripts do it then. See
 * docs/decisions/0016-replace-bullmq-parts.md.
 */

/** ARGV of all scripts: the calls; the stem of the queue's keys. */
const queue = `
local stem = ARGV[2]
local function whole (number) return string.format('%.0f', number) end
`

/**
 * A key that is never there: while the slot of a queue is moved, a Redis Cluster
 * puts off what names one, instead of running half of it.
 */
const absent = 'limiter'

export const addPlainKeys = ['marker', 'meta', 'prioritized', 'active', 'pc', absent] as const
/**
 * KEYS: behind those of the queue, its index. ARGV of a call: id, name, data, options as JSON, timestamp, priority, entry
 * in the index, for how many seconds it may be made once, or nothing; a tenant's entry, or nothing. Answers 1; a
 * job that exists is left as it is. One that was made before, and is gone, is not made again: 0.
 */
export const addPlainScript = new BatchedScript('add-plain', allCalls(`
${queue}
local marker, meta, prioritized, active, counter, _, created = unpack(KEYS)
local keys, entries, places, replies, added = {}, {}, {}, {}, {}
for place, call in ipairs(calls) do
  keys[place] = stem .. call[1]
  replies[place] = 1
  table.insert(entries, '0')
  table.insert(entries, call[7])
  if call[9] ~= '' then
    table.insert(entries, '0')
    table.insert(entries, call[9])
  end
end
-- Before the jobs: one that is in no list would never be found.
redis.call('ZADD', created, unpack(entries))
local hasKnown = redis.call('EXISTS', unpack(keys)) > 0
for place, call in ipairs(calls) do
  -- Requests that repeat each other may come with one command.
  local isKnown = added[call[1]] or (hasKnown and redis.call('EXISTS', keys[place]) == 1)
  if not isKnown and call[8] ~= '' and not redis.call('SET', keys[place] .. '${madePart}', '1', 'NX', 'EX', call[8]) then
    replies[place] = 0
  elseif not isKnown then
    redis.call('HSET', keys[place], 'name', call[2], 'data', call[3], 'opts', call[4], 'timestamp', call[5], 'delay', '0', 'priority', call[6])
    table.insert(places, call)
    added[call[1]] = true
  else
    -- A connection waits for replicas by what it has written itself.
    redis.call('HINCRBY', keys[place], 'priority', 0)
  end
end
if #places == 0 then return replies end
local arrival = redis.call('INCRBY', counter, #places) - #places
local ranks = {}
for place, call in ipairs(places) do
  table.insert(ranks, whole(call[6] * 4294967296 + (arrival + place) % 4294967296))
  table.insert(ranks, call[1])
end
redis.call('ZADD', prioritized, unpack(ranks))
local limits = redis.call('HMGET', meta, 'paused', 'concurrency')
if not limits[1] and not (limits[2] and redis.call('LLEN', active) >= tonumber(limits[2])) then redis.call('ZADD', marker, '0', '0') end
return replies
`))

export const takePlainKeys = ['wait', 'active', 'prioritized', 'delayed', 'meta', 'pc', 'marker', absent] as const
/**
 * Takes a job for each token, as long as there are any; nil where the queue is paused or limited, or delayed jobs are
 * due. A marker wakes one worker: it is left for the next one while there is something left to take, else it would ask
 * Redis in vain.
 */
const take = `
local wait, active, prioritized, delayed, meta, counter, marker = unpack(KEYS)
local now, lockMs, worker = ARGV[3], ARGV[4], ARGV[5]
local function start (id, token)
  local key = stem .. id
  redis.call('SET', key .. ':lock', token, 'PX', lockMs)
  local fields, job = redis.call('HGETALL', key), {}
  for at = 1, #fields, 2 do job[fields[at]] = fields[at + 1] end
  local runs = (job.ats or 0) + 1
  local taken = {'processedOn', now, 'ats', whole(runs)}
  if worker ~= '' then
    table.insert(taken, 'pb')
    table.insert(taken, worker)
  end
  if runs == (job.atm or 0) + 1 then
    table.insert(taken, '${unbegunField}')
    table.insert(taken, '1')
  end
  redis.call('HSET', key, unpack(taken))
  for _, text in ipairs(taken) do table.insert(fields, text) end
  return {fields, id, 0, 0}
end
local function take (tokens)
  local limits = redis.call('HMGET', meta, 'paused', 'concurrency', 'max')
  local first = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
  if limits[1] or limits[2] or limits[3] or (first[2] and tonumber(first[2]) < (now + 1) * 4096) then return end
  local ids, popped, isEmpty = {}, {}, false
  while #ids < #tokens do
    local id = redis.call('RPOPLPUSH', wait, active)
    if not id then break end
    table.insert(ids, id)
  end
  if #ids < #tokens then
    local ranked = redis.call('ZPOPMIN', prioritized, #tokens - #ids)
    for at = 1, #ranked, 2 do
      table.insert(ids, ranked[at])
      table.insert(popped, ranked[at])
    end
    if #popped > 0 then redis.call('LPUSH', active, unpack(popped)) end
    isEmpty = #ids < #tokens
    if isEmpty then redis.call('DEL', counter) end
  end
  local replies = {}
  for place, id in ipairs(ids) do replies[place] = start(id, tokens[place]) end
  if not isEmpty and redis.call('ZCARD', prioritized) == 0 then isEmpty = redis.call('LLEN', wait) == 0 end
  if isEmpty and not first[1] then redis.call('ZREM', marker, '0') elseif #ids > 0 then redis.call('ZADD', marker, '0', '0') end
  for place = #ids + 1, #tokens do replies[place] = {0, 0, 0, first[2] and math.floor(first[2] / 4096) or 0} end
  return replies
end
`
/**
 * ARGV: the time, in milliseconds since 1970; for how many milliseconds
 * a worker holds a job; the worker's name, or nothing. ARGV of a call: the worker's token. Answers what BullMQ's script would, or nil.
 */
export const takePlainScript = new BatchedScript('take-plain', allCalls(`
${queue}
${take}
${goOnWhenFull('meta')}
local replies = {}
for place, call in ipairs(calls) do
  local taken = take(call)
  replies[place] = taken and taken[1] or false
end
return replies
`))

/** The keys of the script that settles jobs. */
export const finishPlainKeys = [...takePlainKeys, 'stalled', 'completed', 'failed'] as const
/**
 * ARGV: as for taking; then for how many seconds jobs are kept that succeeded, and those that failed, how many of each, and how
 * many are removed at once; what the names of channels begin with, of jobs and of API processes. ARGV of a call: id; the
 * worker's token; + or -; the return value or the reason; the stack; when it ended; 1 to take the next job; the API process
 * that waits for it, or nothing; how often the job has run if its beginning was not noted before, else nothing.
 *
 * Answers the next job, 0 for none, 1 where BullMQ must be asked for it; and 1 where others depend on the job, else 0.
 */
export const finishPlainScript = new BatchedScript('finish-plain', allCalls(`
${queue}
${take}
local stalled, ends = KEYS[9], {['+'] = KEYS[10], ['-'] = KEYS[11]}
local keptMs, keptCount, removable = {['+'] = ARGV[6] * 1000, ['-'] = ARGV[7] * 1000}, tonumber(ARGV[8]), tonumber(ARGV[9])
local jobChannel, replyChannel = ARGV[10], ARGV[11]

local locks, flows, dependents = {}, {}, {}
for _, call in ipairs(calls) do
  local key = stem .. call[1]
  table.insert(locks, key .. ':lock')
  table.insert(flows, key .. ':dependencies')
  table.insert(flows, key .. ':unsuccessful')
  table.insert(dependents, key .. ':dependents')
end
local holders = redis.call('MGET', unpack(locks))
local areInFlows = redis.call('EXISTS', unpack(flows)) > 0
local haveDependents = redis.call('EXISTS', unpack(dependents)) > 0
local jobs = {}
for place, call in ipairs(calls) do
  local job = redis.call('HMGET', stem .. call[1], 'timestamp', 'parentKey', 'deid', 'atm', '${unbegunField}', 'defa')
  local isInFlow = job[2] or (areInFlows and redis.call('EXISTS', flows[2 * place - 1], flows[2 * place]) > 0)
  local failures = tonumber(job[4] or 0)
  -- From here on nothing may fail.
  jobs[place] = job[1] and not isInFlow and not job[3] and failures and holders[place] == call[2] and {runs = whole(failures + 1), isUnbegun = job[5], isDeferred = job[6]}
end

local replies, settled, unlocked, tokens, takers, heard = {}, {}, {}, {}, {}, {}
local scores = {['+'] = {}, ['-'] = {}}
for place, call in ipairs(calls) do
  local id, token, sign, text, stack, endedAt, isNext, awaited, runs = unpack(call)
  local key, job = stem .. id, jobs[place]
  replies[place] = false
  if job and redis.call('LREM', active, -1, id) > 0 then
    local fields = {'atm', job.runs, 'finishedOn', endedAt, sign == '+' and 'returnvalue' or 'failedReason', text}
    if sign == '-' then
      table.insert(fields, 'stacktrace')
      table.insert(fields, stack)
      if job.isDeferred then redis.call('HDEL', key, 'defa') end
    end
    if job.isUnbegun then redis.call('HDEL', key, '${unbegunField}') end
    if job.isUnbegun and runs ~= '' then
      table.insert(fields, 'ats')
      table.insert(fields, runs)
    end
    redis.call('HSET', key, unpack(fields))
    table.insert(unlocked, locks[place])
    table.insert(settled, id)
    table.insert(scores[sign], endedAt)
    table.insert(scores[sign], id)
    redis.call('PUBLISH', jobChannel .. id, 'job')
    if awaited ~= '' then
      heard[awaited] = heard[awaited] or {}
      table.insert(heard[awaited], id .. sign .. (sign == '+' and text or string.gsub(text, '\\n', ' ')))
    end
    replies[place] = {0, haveDependents and redis.call('EXISTS', dependents[place]) or 0}
    if isNext == '1' then
      table.insert(tokens, token)
      table.insert(takers, place)
    end
  end
end
if #settled == 0 then return replies end
redis.call('DEL', unpack(unlocked))
redis.call('SREM', stalled, unpack(settled))
for sign, ended in pairs(scores) do
  if #ended > 0 then
    redis.call('ZADD', ends[sign], unpack(ended))
    local old = redis.call('ZCOUNT', ends[sign], '-inf', whole(now - keptMs[sign]))
    local most = math.min(removable, math.max(old, redis.call('ZCARD', ends[sign]) - keptCount))
    if most > 0 then
      local removed, keys, beside = redis.call('ZPOPMIN', ends[sign], most), {}, {}
      for at = 1, #removed, 2 do
        for _, part in ipairs({'', ':logs', ':dependencies', ':processed', ':failed', ':unsuccessful'}) do table.insert(keys, stem .. removed[at] .. part) end
        for _, part in ipairs({':output', ':log'}) do table.insert(beside, stem .. removed[at] .. part) end
      end
      redis.call('DEL', unpack(keys))
      if redis.call('EXISTS', unpack(beside)) > 0 then
        for _, key in ipairs(beside) do redis.call('EXPIRE', key, ${outputTailSec}) end
      end
    end
  end
end
for process, texts in pairs(heard) do redis.call('PUBLISH', replyChannel .. process, table.concat(texts, '\\n')) end
if #tokens > 0 then
  local isTaken, taken = pcall(take, tokens)
  for at, place in ipairs(takers) do replies[place][1] = isTaken and taken and taken[at] or 1 end
end
return replies
`))
