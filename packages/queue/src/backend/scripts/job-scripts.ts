import { BatchedScript, eachCall, type EachCall, type ScriptCall, madePart, rerunsField, goOnWhenFull } from '@toolyard/store'
import { approvalField } from '../../record/approval.ts'
import { answersField, askedField, questionField } from '../../record/question.ts'
import { beganField } from '../../record/job-times.ts'
import { bullmqScript, withoutEvents } from './bullmq-scripts.ts'

/** What BullMQ would send: keys, then arguments. */
export type BullmqArgs = ReadonlyArray<string | number | boolean | Buffer | undefined>

/** What our part of a script does, with `keys` and `args` of ours; `bullmq(args)` runs BullMQ's part and answers its reply. */
interface OwnPart extends EachCall {
  keys: number
  args: number
}

/**
 * A script of BullMQ with what Toolyard promises around it. Our keys and arguments come first, so that nothing here
 * depends on how many BullMQ's are.
 */
class WrappedScript {
  readonly script: BatchedScript
  readonly #keys: number

  /** @param content BullMQ's part. */
  constructor (command: string, { content, keys: theirs }: { content: string, keys: number }, { keys, args, each = '', ...rest }: OwnPart) {
    this.#keys = theirs
    this.script = new BatchedScript(command, eachCall(content, {
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

/**
 * KEYS: index, job, meta, one that is never there: while the slot of a queue is moved, a Redis Cluster puts off what
 * names one, instead of running half of it; the index of held jobs; and the record of the workflow that a step is of. ARGV:
 * id; entry in the index; for how many seconds the job may be made once, or nothing; a tenant's entry in the index, or nothing;
 * 1 for a job that is held; the field of a step's id in its workflow's record, or nothing. Answers 0 for a job that was made
 * before, and is gone; and the id of the step's job, where another one was made.
 *
 * A step gets its id with its job: a failover that lost the id alone would let it run again.
 */
const add: OwnPart = {
  keys: 6,
  args: 6,
  // Before the job: one that is in no list would never be found.
  each: `
local id, entry, once, tenantEntry, isHeld, step = unpack(args, 1, 6)
if step ~= '' and redis.call('EXISTS', keys[6]) == 1 and redis.call('HSETNX', keys[6], step, id) == 0 then
  local other = redis.call('HGET', keys[6], step)
  if other ~= id then return other end
end
local isKnown = redis.call('EXISTS', keys[2]) == 1
if once ~= '' and not isKnown and redis.call('EXISTS', keys[2] .. '${madePart}') == 1 then return 0 end
for _, index in ipairs({keys[1], isHeld == '1' and not isKnown and keys[5] or nil}) do
  redis.call('ZADD', index, 0, entry)
  if tenantEntry ~= '' then redis.call('ZADD', index, 0, tenantEntry) end
end
-- BullMQ writes a stream of events that nobody reads: it is kept as short as it can be.
redis.call('HSET', keys[3], 'opts.maxLenEvents', 0)
local reply = bullmq()
-- A connection waits for replicas by what it has written itself, and this one may find the job there.
if type(reply) == 'string' then redis.call('HINCRBY', keys[2], 'priority', 0) end
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

/** KEYS: meta. */
const lookForLost: OwnPart = { keys: 1, args: 0, each: `${goOnWhenFull('keys[1]')}\nreturn bullmq()` }

/** The keys of BullMQ's script that takes a job. */
export const takeKeys = ['wait', 'active', 'prioritized', 'events', 'stalled', 'limiter', 'delayed', 'paused', 'meta', 'pc', 'marker'] as const

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

/**
 * BullMQ's counter of stalls, a failure that it has put off, the mark of a canceller that died, what a workflow waited for
 * and when it began, who ran the job, that it was approved, and what it has asked.
 */
const leftovers = ['stc', 'defa', 'cancelled', 'seen', beganField, 'pb', approvalField, askedField, questionField, answersField]
/** The bulk change by which a job was run again last. */
const bulkField = 'wish'
/**
 * Puts a failed job back, with all its attempts and without what earlier runs left behind. KEYS: job, failed jobs, log. ARGV:
 * id; when the job ended, as the caller saw it; the bulk change, or nothing; the time for the log, and what else is said
 * there, or nothing; lines that a log keeps, and for how many seconds; the channel of those who watch the job.
 *
 * A process may stand still between what it read and this. So it is told which end is meant, and a bulk change runs a job
 * again once, also where a part of it is done twice. Answers `queued`, or why not.
 */
const runAgain: OwnPart = {
  keys: 3,
  args: 8,
  each: `
local id, endedAt, bulk, time, meta, lines, seconds, channel = unpack(args, 1, 8)
local job, failed, log = unpack(keys, 1, 3)
if redis.call('EXISTS', job) == 0 then return 'missing' end
local state = redis.call('HMGET', job, 'finishedOn', '${bulkField}')
if not redis.call('ZSCORE', failed, id) or state[1] ~= endedAt then return 'unfailed' end
if bulk ~= '' and string.sub(state[2] or '', 1, #bulk) == bulk then return 'unfailed' end
redis.call('HINCRBY', job, '${rerunsField}', 1)
if bulk ~= '' then redis.call('HSET', job, '${bulkField}', bulk) end
redis.call('HDEL', job, ${leftovers.map(field => `'${field}'`).join(', ')})
local line = {'ts', time, 'level', 'info', 'message', 'Run again by an operator'}
if meta ~= '' then line[7], line[8] = 'meta', meta end
redis.call('XADD', log, 'MAXLEN', '~', lines, '*', unpack(line))
redis.call('EXPIRE', log, seconds)
bullmq()
redis.call('PUBLISH', channel, 'log')
redis.call('PUBLISH', channel, 'job')
return 'queued'
`
}

const ownParts = {
  addPrioritizedJob: add,
  addDelayedJob: add,
  addParentJob: add,
  moveToActive: take,
  moveStalledJobsToWait: lookForLost,
  moveToFinished: finish,
  reprocessJob: runAgain
} as const satisfies Record<string, OwnPart>

function wrap (name: keyof typeof ownParts): WrappedScript {
  const { content, keys } = bullmqScript(name)
  return new WrappedScript(`job-${name}`, { content: withoutEvents(content), keys }, ownParts[name])
}

export const jobScripts: Readonly<Record<keyof typeof ownParts, WrappedScript>> = {
  addPrioritizedJob: wrap('addPrioritizedJob'),
  addDelayedJob: wrap('addDelayedJob'),
  addParentJob: wrap('addParentJob'),
  moveToActive: wrap('moveToActive'),
  moveStalledJobsToWait: wrap('moveStalledJobsToWait'),
  moveToFinished: wrap('moveToFinished'),
  reprocessJob: wrap('reprocessJob')
}

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
