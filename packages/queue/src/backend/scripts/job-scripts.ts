import { shownField } from '../../record/approval.ts'
import { BatchedScript, eachCall, type EachCall, type ScriptCall, madePart, goOnWhenFull } from '@toolyard/store'
import { isRecord } from '@toolyard/contract/terms'
import { load } from '../../record/bullmq.ts'
import { dueAtOnce, newTurns } from './new-turns.ts'

/** As BullMQ would send them: keys, then arguments. */
type BullmqArgs = ReadonlyArray<string | number | boolean | Buffer | undefined>

/** Our part of a script, with `keys` and `args` of ours; `bullmq(args)` runs BullMQ's part and answers its reply. */
interface OwnPart extends EachCall {
  keys: number
  args: number
}

/**
 * The Redis that BullMQ's scripts see: it takes nothing into the stream of the queue's events. Nobody here reads that: it costs
 * a fifth of a script's time, and the outputs of tools would be in it, and in the file that Redis appends to, once more.
 */
const withoutEvents = `local redis = setmetatable({call = function (command, ...)
  if command ~= 'XADD' and command ~= 'XTRIM' then return redis.call(command, ...) end
end}, {__index = redis})
`

/**
 * A script of BullMQ with what Toolyard promises around it. Our keys and arguments come first, so that nothing here
 * depends on how many BullMQ's are.
 */
class WrappedScript {
  readonly script: BatchedScript
  readonly #keys: number

  /** @param content BullMQ's part. */
  constructor (command: string, { content, keys: theirs }: BullmqScript, { keys, args, each = '', ...rest }: OwnPart) {
    this.#keys = theirs
    this.script = new BatchedScript(command, eachCall(withoutEvents + content, {
      ...rest,
      each: `
local keys, args = KEYS, ARGV
local function bullmq (theirs) return script({unpack(keys, ${keys + 1})}, theirs or {unpack(args, ${args + 1})}) end
${each}
`
    }))
  }

  /** The call that BullMQ would make, with our keys and arguments. */
  call (theirs: BullmqArgs, keys: readonly string[], args: ReadonlyArray<string | number>): ScriptCall {
    const own = theirs.slice(this.#keys).map(arg => arg === undefined ? '' : typeof arg === 'boolean' ? String(arg) : arg)
    return { keys: [...keys, ...theirs.slice(0, this.#keys).map(String)], args: [...args, ...own] }
  }
}

/** A field of a job that was taken, and whose run has not begun: see backend/README.md. */
export const unbegunField = 'unbegun'

/** The keys of BullMQ's scripts that add a job. */
export const addKeys = {
  addPrioritizedJob: ['marker', 'meta', 'id', 'prioritized', 'delayed', 'completed', 'active', 'events', 'pc'],
  addDelayedJob: ['marker', 'meta', 'id', 'delayed', 'completed', 'events'],
  addParentJob: ['meta', 'id', 'delayed', 'waiting-children', 'completed', 'events']
} as const

/**
 * KEYS: index, job, meta, one that is never there: while the slot of a queue is moved, a Redis Cluster puts off what
 * names one, instead of running half of it; the index of held jobs; and the record of the workflow that a step is of. ARGV:
 * id; entry in the index; for how many seconds the job may be made once, or nothing; a tenant's entry in the index, or nothing;
 * what lists show of a job that is held, or nothing; the field of a step's id in its workflow's record, or nothing; the stem of
 * the jobs' keys; name, data, options as JSON, timestamp; the key of its parent and what is kept of it as JSON, or nothing.
 * Answers 0 for a job that was made before, and is gone; and the id of the step's job, where another one was made.
 *
 * A step gets its id with its job: a failover that lost the id alone would let it run again.
 */
const add: OwnPart = {
  keys: 6,
  args: 13,
  // Before the job: one that is in no list would never be found.
  each: `
local id, entry, once, tenantEntry, shown, step, stem, name, data, opts, timestamp, parentKey, parent = unpack(args, 1, 13)
if step ~= '' and redis.call('EXISTS', keys[6]) == 1 and redis.call('HSETNX', keys[6], step, id) == 0 then
  local other = redis.call('HGET', keys[6], step)
  if other ~= id then return other end
end
local isKnown = redis.call('EXISTS', keys[2]) == 1
if once ~= '' and not isKnown and redis.call('EXISTS', keys[2] .. '${madePart}') == 1 then return 0 end
for _, index in ipairs({keys[1], shown ~= '' and not isKnown and keys[5] or nil}) do
  redis.call('ZADD', index, 0, entry)
  if tenantEntry ~= '' then redis.call('ZADD', index, 0, tenantEntry) end
end
-- BullMQ writes a stream of events that nobody reads: it is kept as short as it can be.
redis.call('HSET', keys[3], 'opts.maxLenEvents', 0)
local job = {stem, id, name, timestamp}
if parentKey ~= '' then job[5], job[6], job[7] = parentKey, parentKey .. ':dependencies', cjson.decode(parent) end
local reply = bullmq({cmsgpack.pack(job), data, cmsgpack.pack(cjson.decode(opts))})
-- A connection waits for replicas by what it has written itself, and this one may find the job there.
if type(reply) == 'string' then redis.call('HINCRBY', keys[2], 'priority', 0) end
if shown ~= '' and not isKnown and type(reply) == 'string' then redis.call('HSET', keys[2], '${shownField}', shown) end
if once ~= '' and type(reply) == 'string' then redis.call('SET', keys[2] .. '${madePart}', '1', 'EX', once) end
return reply
`
}

/** Marks the job that a script of BullMQ has taken: its worker may be gone, or never get the answer. */
const mark = `
local function mark (next, stem)
  if type(next) ~= 'table' or type(next[1]) ~= 'table' then return next end
  local job = {}
  for at = 1, #next[1], 2 do job[next[1][at]] = next[1][at + 1] end
  if job['${unbegunField}'] or tonumber(job.ats) ~= tonumber(job.atm or 0) + 1 then return next end
  redis.call('HSET', stem .. next[2], '${unbegunField}', '1')
  table.insert(next[1], '${unbegunField}')
  table.insert(next[1], '1')
  return next
end
`

/**
 * KEYS: meta; stalled jobs; those of BullMQ, of which the fourth says that there was a look just now. ARGV: the ids of the only jobs
 * that may be put back, as JSON, or nothing for all; those of BullMQ, of which the fourth is how long that is said, in milliseconds.
 */
const lookForLost: OwnPart = {
  keys: 2,
  args: 1,
  each: `
${goOnWhenFull('keys[1]')}
-- The clock of Redis was set back since.
if redis.call('PTTL', keys[6]) > tonumber(args[5]) then redis.call('DEL', keys[6]) end
local others, may = {}, {}
if args[1] ~= '' then
  for _, id in ipairs(cjson.decode(args[1])) do may[id] = true end
  for _, id in ipairs(redis.call('SMEMBERS', keys[2])) do
    if not may[id] then table.insert(others, id) end
  end
end
for _, id in ipairs(others) do redis.call('SREM', keys[2], id) end
local reply = bullmq()
for _, id in ipairs(others) do redis.call('SADD', keys[2], id) end
return reply
`
}

/** The keys of BullMQ's script that takes a job. */
export const takeKeys = ['wait', 'active', 'prioritized', 'events', 'stalled', 'limiter', 'delayed', 'paused', 'meta', 'pc', 'marker'] as const

/** The keys of BullMQ's script that makes a delayed job ready. */
export const promoteKeys = ['delayed', 'wait', 'paused', 'meta', 'prioritized', 'active', 'pc', 'events', 'marker'] as const

/** KEYS: meta. ARGV: stem of the jobs' keys; time; the worker's token; how long it holds the job, in milliseconds; its name, or nothing. */
const take: OwnPart = {
  keys: 1,
  args: 5,
  before: mark,
  each: `
local stem, now, token, ms, worker = unpack(args, 1, 5)
${goOnWhenFull('keys[1]')}
return mark(bullmq({stem, now, cmsgpack.pack({token = token, lockDuration = tonumber(ms), name = worker ~= '' and worker or nil})}), stem)
`
}

/**
 * KEYS: job. ARGV: the stem of the jobs' keys; id; when the job ended; + or -; the return value or the reason; the channel
 * of those who watch it; that of the API process that waits for it, or nothing; how often the job has run if its beginning
 * was not noted before, else nothing.
 *
 * The script itself tells watchers that the job ended, and waiting API processes what the record says. It also tells them
 * of a job that has already ended: the connection broke, and the command was sent again. If the record has this very end,
 * the worker goes on as after any other. Answers BullMQ's reply; and 1 where others depend on the job.
 */
const finish: OwnPart = {
  keys: 1,
  args: 8,
  before: `${mark}\nlocal heard = {}`,
  each: `
local stem, id, endedAt, sign, text, channel, awaited, runs = unpack(args, 1, 8)
local key, reply = keys[1], mark(bullmq(), stem)
if type(reply) == 'number' and reply < 0 then
  local record = redis.call('HMGET', key, 'finishedOn', 'returnvalue', 'failedReason')
  if not record[1] then return {reply} end
  local isThis = record[1] == endedAt and (record[2] or record[3]) == text and (record[2] and '+' or '-') == sign
  sign, text = record[2] and '+' or '-', record[2] or record[3] or ''
  if isThis then reply = 0 end
end
if redis.call('HDEL', key, '${unbegunField}') == 1 and runs ~= '' then redis.call('HSET', key, 'ats', runs) end
redis.call('PUBLISH', channel, 'job')
if awaited ~= '' then
  if not heard[awaited] then heard[awaited] = {} end
  if sign == '-' then text = string.gsub(text, '\\n', ' ') end
  table.insert(heard[awaited], id .. sign .. text)
end
return {reply, redis.call('EXISTS', key .. ':dependents')}
`,
  after: "for channel, ends in pairs(heard) do redis.call('PUBLISH', channel, table.concat(ends, '\\n')) end"
}

/** ARGV: the stem of the jobs' keys; id. */
const promote: OwnPart = {
  keys: 0,
  args: 2,
  before: newTurns,
  each: `
if redis.call('ZSCORE', args[1] .. 'delayed', args[2]) then newTurns(args[1], {args[2]}) end
return bullmq()
`
}

/** A script of BullMQ with our part of it. @param name BullMQ's */
export function wrapScript (name: string, part: OwnPart): WrappedScript {
  return new WrappedScript(`job-${name}`, bullmqScript(name), part)
}

export const jobScripts = {
  addPrioritizedJob: wrapScript('addPrioritizedJob', add),
  addDelayedJob: wrapScript('addDelayedJob', add),
  addParentJob: wrapScript('addParentJob', add),
  moveToActive: wrapScript('moveToActive', take),
  moveStalledJobsToWait: wrapScript('moveStalledJobsToWait', lookForLost),
  moveToFinished: wrapScript('moveToFinished', finish),
  promote: wrapScript('promote', promote)
} as const

/** A script of BullMQ: its Lua, and how many keys it takes. */
interface BullmqScript {
  content: string
  keys: number
}

function bullmqScript (name: string): BullmqScript {
  const scripts: unknown = load('bullmq/dist/cjs/scripts/index.js')
  const script = isRecord(scripts) ? scripts[name] : undefined
  if (!isScript(script)) throw new Error(`BullMQ has no script '${name}'`)
  // BullMQ makes a thousand due jobs ready at once, and gives them no new turns.
  const content = script.content.replace('"LIMIT", 0, 1000)', `"LIMIT", 0, ${dueAtOnce})\nnewTurns(prefix, jobs)`)
  return content === script.content ? script : { ...script, content: newTurns + content }
}

function isScript (value: unknown): value is BullmqScript {
  return isRecord(value) && typeof value['content'] === 'string' && typeof value['keys'] === 'number'
}
