import { BatchedScript, eachCall } from '../redis/batched-script.ts'
import { bullmqScript } from '../redis/bullmq.ts'
import { madePart } from '../redis/names.ts'
import { goOnWhenFull } from '../redis/when-full.ts'

/**
 * How many keys BullMQ's scripts take that add a job; behind these comes the index. ARGV, behind BullMQ's: the entry in the
 * index; the job's key, and for how many seconds it may be made once, or nothing.
 */
export const addKeys = {
  addPrioritizedJob: 9,
  addDelayedJob: 6,
  addParentJob: 6
} as const

/** The name of such a script. */
export type Adding = keyof typeof addKeys

/** BullMQ's scripts that add a job, by name. */
export const addScripts: ReadonlyMap<string, BatchedScript> = new Map(Object.entries(addKeys).map(([name, keys]) => [name, new BatchedScript(name, eachCall(bullmqScript(name, keys), {
  // Before the job: one that is in no list would never be found.
  each: `
local key, once = ARGV[5], ARGV[6]
if once ~= '' and redis.call('EXISTS', key .. '${madePart}') == 1 and redis.call('EXISTS', key) == 0 then return 0 end
redis.call('ZADD', KEYS[${keys + 1}], 0, ARGV[4])
local reply = script(KEYS, ARGV)
-- A connection waits for replicas by what it has written itself, and this one may find the job there.
if type(reply) == 'string' then redis.call('HINCRBY', key, 'priority', 0) end
if once ~= '' and type(reply) == 'string' then redis.call('SET', key .. '${madePart}', '1', 'EX', once) end
return reply
`
}))]))

/** The keys of BullMQ's script that takes a job. */
export const takeKeys = ['wait', 'active', 'prioritized', 'events', 'stalled', 'limiter', 'delayed', 'paused', 'meta', 'pc', 'marker'] as const
/** ARGV: the stem of the queue's keys; the time, in milliseconds since 1970; the worker's token; for how many milliseconds it holds the job. */
export const takeScript = new BatchedScript('take', eachCall(bullmqScript('moveToActive', takeKeys.length), {
  each: `
${goOnWhenFull('KEYS[9]')}
return script(KEYS, {ARGV[1], ARGV[2], cmsgpack.pack({token = ARGV[3], lockDuration = tonumber(ARGV[4])})})
`
}))

/**
 * A field of a job that was taken, and whose run has not begun: its worker may be gone, or never have heard of it. A job
 * that was taken before, and whose run has begun then, doesn't get it again.
 */
export const unbegunField = 'unbegun'

/** How many keys BullMQ's script takes that settles a job. */
export const finishKeys = 14
/**
 * ARGV, behind BullMQ's: the channel of those who watch the job; that of the API process that waits for it, or nothing;
 * how often the job was run, where it has not been said to have begun, or nothing.
 * Both hear of the end right here, those who wait what the record says: nobody need wait until the worker knows. A job
 * that is found to have ended is told all the same: the connection broke, and the command was sent again. When it is just
 * this end that is found, the worker goes on as after any.
 */
export const finishScript = new BatchedScript('finish', eachCall(bullmqScript('moveToFinished', finishKeys), {
  before: 'local heard = {}',
  each: `
local id, reply = ARGV[1], script(KEYS, ARGV)
local sign, text = ARGV[5] == 'completed' and '+' or '-', ARGV[4]
if type(reply) == 'number' and reply < 0 then
  local record = redis.call('HMGET', KEYS[12], 'finishedOn', 'returnvalue', 'failedReason')
  if not record[1] then return {reply} end
  local isThis = record[1] == ARGV[2] and (record[2] or record[3]) == text and (record[2] and '+' or '-') == sign
  sign, text = record[2] and '+' or '-', record[2] or record[3] or ''
  if isThis then reply = 0 end
end
if redis.call('HDEL', KEYS[12], '${unbegunField}') == 1 and ARGV[12] ~= '' then redis.call('HSET', KEYS[12], 'ats', ARGV[12]) end
redis.call('PUBLISH', ARGV[10], 'job')
local awaited = ARGV[11]
if awaited ~= '' then
  if not heard[awaited] then heard[awaited] = {} end
  if sign == '-' then text = string.gsub(text, '\\n', ' ') end
  table.insert(heard[awaited], id .. sign .. text)
end
return {reply, redis.call('EXISTS', KEYS[12] .. ':dependents')}
`,
  after: "for channel, ends in pairs(heard) do redis.call('PUBLISH', channel, table.concat(ends, '\\n')) end"
}))

/**
 * ARGV: the token of who runs the job, and the time. Answers whether they hold it. Those who took it before didn't run
 * it, and don't count; one that is just being given back stays uncounted. It always writes: a connection can then wait until
 * replicas have it.
 */
export const beginScript = new BatchedScript('begin', eachCall(`
if redis.call('GET', KEYS[1] .. ':lock') ~= ARGV[1] then return 0 end
local isFirst = redis.call('HDEL', KEYS[1], '${unbegunField}') == 1
redis.call('HSET', KEYS[1], 'processedOn', ARGV[2])
if isFirst then
  local runs = redis.call('HMGET', KEYS[1], 'ats', 'atm')
  local begun = tonumber(runs[2] or '0') + 1
  if tonumber(runs[1]) > begun then redis.call('HSET', KEYS[1], 'ats', begun) end
end
return 1
`))

/** The keys of BullMQ's script that finds the jobs of lost workers. */
export const stalledKeys = ['stalled', 'wait', 'active', 'stalled-check', 'meta', 'paused', 'marker', 'events', 'repeat'] as const
/** ARGV: how often a job may be lost, the stem of the queue's keys, the time, and milliseconds until the next look. */
export const stalledScript = new BatchedScript('stalled', eachCall(bullmqScript('moveStalledJobsToWait', stalledKeys.length), {
  each: `
${goOnWhenFull('KEYS[5]')}
return script(KEYS, ARGV)
`
}))

/**
 * ARGV: the token of who gives the job back; how often it counts as run then; 1 where that is said of a job that has not
 * begun. Should it have done so meanwhile, those who took it before don't count. Answers how often it was given back so.
 */
export const uncountScript = new BatchedScript('uncount', eachCall(`
if redis.call('GET', KEYS[1] .. ':lock') ~= ARGV[1] then return 0 end
${goOnWhenFull('KEYS[1]')}
local runs = ARGV[2]
if ARGV[3] == '1' and redis.call('HEXISTS', KEYS[1], '${unbegunField}') == 0 then runs = redis.call('HGET', KEYS[1], 'atm') or '0' end
redis.call('HSET', KEYS[1], 'ats', runs)
return redis.call('HINCRBY', KEYS[1], 'givenBack', 1)
`))
