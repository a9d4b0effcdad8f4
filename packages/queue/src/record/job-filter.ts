import type { JobListQuery } from '@toolyard/contract'
import { type Redis, createdKey, queueStem, whileAvailable, fromRedis } from '@toolyard/store'
import { heldKey } from './approval.ts'
import { soughtText, type TextFilter } from './job-text.ts'

/*
 * The filters of a list are looked for in Redis itself, a piece of the index at a time, so that jobs that don't fit are not
 * sent. It lets too many through, never too few: texts are looked for anywhere in a member, and who reads the jobs compares
 * them. Nothing is written for it when a job is made or ends. See docs/decisions/0014-job-index.md.
 */

export type JobFilter = Pick<JobListQuery, 'status' | 'type' | 'tool' | 'tag' | 'key' | 'code' | 'worker'> & TextFilter

/** The members that are looked at, in their order, as the command takes them. */
export type IndexRange = readonly [command: 'ZRANGEBYLEX' | 'ZREVRANGEBYLEX', first: string, last: string]

/** A piece of one queue's index. */
interface FilteredPiece {
  /** In the order of the range. */
  members: string[]
  /** The last member that was looked at; undefined when there are no more. */
  last: string | undefined
}

/** Members that one script looks at, and that it answers at most. */
const examinedAtOnce = 1_000
const mostFound = 200
/** Bytes of data and reasons that one script looks through, and one record more. */
const mostBytes = 1_000_000

/** The record of a job in each state has an output, no end, or no output. */
const standings: Readonly<Record<NonNullable<JobFilter['status']>, string>> = {
  queued: 'open', held: 'open', input_required: 'open', running: 'open', succeeded: 'completed', failed: 'unsuccessful', cancelled: 'unsuccessful'
}

/**
 * KEYS: index. ARGV: stem of the jobs' keys; where to begin and to end; how many members to look at, and to
 * find; the standing, or nothing; the error's code, or nothing; the worker, or nothing; a text of its data or reason, or
 * nothing; two that its data must have, or nothing; the command that reads the range; texts that a member must have.
 */
const filterScript = `
local members = redis.call(ARGV[12], KEYS[1], ARGV[2], ARGV[3], 'LIMIT', 0, ARGV[4])
local most, standing, code, worker = tonumber(ARGV[5]), ARGV[6], ARGV[7], ARGV[8]
local text, spent = ARGV[9], 0
local fitting, ids, places = {}, {}, {}
for place, member in ipairs(members) do
  local fits = true
  for at = 13, #ARGV do fits = fits and string.find(member, ARGV[at], 1, true) end
  if fits then
    table.insert(fitting, member)
    table.insert(places, place)
    table.insert(ids, string.match(member, '^@[^ ]* ([^ ]*)') or string.match(member, '^[^ ]*'))
  end
end
-- Only the fields that tell the state are read: outputs may be long.
local function stands (key)
  if standing == 'open' then
    local times = redis.call('HMGET', key, 'timestamp', 'finishedOn')
    return times[1] and not times[2]
  end
  return (redis.call('HEXISTS', key, 'returnvalue') == 1) == (standing == 'completed')
end
local answer = {#members < tonumber(ARGV[4]) and '' or members[#members]}
for place, id in ipairs(ids) do
  local fits = standing == '' or stands(ARGV[1] .. id)
  if fits and code ~= '' then
    local reason = redis.call('HGET', ARGV[1] .. id, 'failedReason')
    fits = reason and (string.sub(reason, 1, 1) ~= '{' or string.find(reason, code, 1, true))
  end
  if fits and worker ~= '' then fits = redis.call('HGET', ARGV[1] .. id, 'pb') == worker end
  if fits and (text ~= '' or ARGV[10] ~= '' or ARGV[11] ~= '') then
    local found = redis.call('HMGET', ARGV[1] .. id, 'data', 'failedReason')
    local data, reason = found[1] or '', found[2] or ''
    spent = spent + #data + #reason
    fits = string.find(data, ARGV[10], 1, true) and string.find(data, ARGV[11], 1, true) and
      (text == '' or string.find(string.lower(data), text, 1, true) or string.find(string.lower(reason), text, 1, true))
  end
  if fits then table.insert(answer, fitting[place]) end
  if #answer > most or spent > ${mostBytes} then
    if places[place] < #members then answer[1] = fitting[place] end
    break
  end
end
return answer
`

/**
 * Looks for jobs in a piece of a queue's index.
 *
 * @throws RedisUnavailableError
 */
export async function filterJobs (
  redis: Redis, queue: string, [command, first, last]: IndexRange, filter: JobFilter
): Promise<FilteredPiece> {
  const { status, type, tool, tag, key, code, worker = '', text, session, request } = filter
  const texts = [type, tool, tag, key].filter(text => text !== undefined).map(text => JSON.stringify(text))
  const [end = '', ...members] = fromRedis<string[]>(await whileAvailable(redis.eval(
    filterScript, 1, status === 'held' || status === 'input_required' ? heldKey(queue) : createdKey(queue), queueStem(queue), first, last, examinedAtOnce, mostFound,
    status === undefined ? '' : standings[status], code === undefined ? '' : JSON.stringify(code), worker,
    text === undefined ? '' : soughtText(text), member('session', session), member('request', request), command, ...texts
  )))
  return { members, last: end === '' ? undefined : end }
}

/** How JSON has a text in an object. */
function member (name: string, text: string | undefined): string {
  return text === undefined ? '' : `"${name}":${JSON.stringify(text)}`
}
