import { limits, writeThrough } from '@toolyard/contract/terms'
import {
  BatchedScript, eachCall, fromRedis, goOnWhenFull, jobChannel, jobKey, jobPartKey, queueKey, replyChannel, runForGood, serverTime,
  whileAvailable, type Redis, type Replicas
} from '@toolyard/store'
import { heldKey } from '../record/approval.ts'
import { answersField, askedField, inputRequired, questionField, readQuestions, type AskedRecord, type Questions } from '../record/question.ts'
import { unbegunField } from '../backend/scripts/job-scripts.ts'
import { leavePart } from './held-jobs.ts'
import { markPart } from './release.ts'

/*
 * Jobs whose tool waits for an answer. As a job that waits for an approval, such a one is delayed until its time is over, is in
 * the index `held`, and whoever takes it asks here first.
 */

const clock = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`

/**
 * KEYS: job, lock, held. ARGV: token, what it asks, how far that is, channel, that of the API process that waits or nothing, what
 * it is told; entries of the index. Answers whether the job is still its worker's. Its options say that it has asked: a worker
 * that takes it reads those with the job. The run that asks is over: whoever finds the job afterwards has lost none.
 */
const askScript = `
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
${goOnWhenFull('KEYS[1]')}
local options = redis.call('HGET', KEYS[1], 'opts')
if not string.find(options, '"asked":1', 1, true) then options = '{"asked":1,' .. string.sub(options, 2) end
local before = redis.call('HGET', KEYS[1], '${askedField}')
local asked = cjson.decode(ARGV[3])
asked.waits = before and cjson.decode(before).waits or nil
redis.call('HSET', KEYS[1], 'opts', options, '${questionField}', ARGV[2], '${askedField}', cjson.encode(asked))
redis.call('HSET', KEYS[1], 'ats', redis.call('HGET', KEYS[1], 'atm') or '0')
redis.call('HDEL', KEYS[1], '${unbegunField}')
for at = 7, #ARGV do redis.call('ZADD', KEYS[3], 0, ARGV[at]) end
redis.call('PUBLISH', ARGV[4], 'job')
if ARGV[5] ~= '' then redis.call('PUBLISH', ARGV[5], ARGV[6]) end
return 1
`

/** Lines of answers by their numbers, and the numbers of the questions that are asked now. */
const readAnswers = `
local asked, lines = cjson.decode(job[1]), {}
for line in string.gmatch(job[2] or '', '([^\\n]*)\\n') do table.insert(lines, line) end
local open = asked.open or {asked.number}
`

/**
 * KEYS: job, held, delayed, marker. ARGV: id, tenant or nothing, number of the question or nothing, answer, channel, whether it was
 * checked or nothing. Answers what became of it. A line without an answer holds the place of one. It writes each time, so that a
 * repeat waits for replicas as well.
 */
const answerScript = new BatchedScript('answer', eachCall(`
${clock}${leavePart}${markPart}
local id, tenant, number, answer, channel, checked = unpack(ARGV)
local job = redis.call('HMGET', KEYS[1], '${askedField}', '${answersField}', 'timestamp', 'finishedOn', 'cancelled')
if not job[3] then return 'missing' end
${goOnWhenFull('KEYS[1]')}
redis.call('HINCRBY', KEYS[1], 'priority', 0)
local isEnded = job[4] or job[5]
if not job[1] then return isEnded and 'ended' or 'unasked' end
${readAnswers}
local wanted = tonumber(number) or open[1]
if isEnded or wanted < asked.number then
  -- Who said so before may not have heard that it was taken.
  if number ~= '' and lines[wanted] == answer then return 'noted' end
  return isEnded and 'ended' or 'other'
end
if (lines[wanted] or '') ~= '' then
  if number == '' or lines[wanted] ~= answer then return 'answered' end
  return asked.state == 'asked' and 'noted' or 'done'
end
local place
for at, each in ipairs(open) do if each == wanted then place = at end end
if not place then return 'other' end
if asked.state ~= 'asked' then return asked.state end
if checked == '' then return 'other' end
if now >= asked.ends then return 'expired' end
for at = #lines + 1, wanted - 1 do lines[at] = '' end
lines[wanted] = answer
table.remove(open, place)
asked.open = #open > 0 and open or nil
if not asked.open then
  asked.state = 'answered'
  asked.waits = asked.waits or {}
  table.insert(asked.waits, {asked.at, now})
  redis.call('HSET', KEYS[1], 'delay', 0)
  leave(KEYS[2], id, tenant)
  -- From there BullMQ makes it ready by itself, should the caller die before it does.
  redis.call('ZADD', KEYS[3], 'XX', now * 4096, id)
  mark(KEYS[3], KEYS[4])
end
redis.call('HSET', KEYS[1], '${askedField}', cjson.encode(asked), '${answersField}', table.concat(lines, '\\n') .. '\\n')
redis.call('PUBLISH', channel, 'job')
return asked.open and 'noted' or 'taken'
`))

/** KEYS: job. ARGV: number of the question, why the answer to it doesn't fit, channel. */
const refuseScript = `
local job = redis.call('HMGET', KEYS[1], '${askedField}', '${answersField}')
if not job[1] then return end
${readAnswers}
local number = tonumber(ARGV[1])
if asked.state ~= 'asked' or number < asked.number or (lines[number] or '') ~= '' then return end
${goOnWhenFull('KEYS[1]')}
local refused = asked.refused or {}
refused[ARGV[1]] = {count = (refused[ARGV[1]] and refused[ARGV[1]].count or 0) + 1, reason = ARGV[2]}
asked.refused = refused
redis.call('HSET', KEYS[1], '${askedField}', cjson.encode(asked))
redis.call('PUBLISH', ARGV[3], 'job')
`

/** KEYS: job, held. ARGV: id, tenant or nothing. Answers the state, the milliseconds that are left, the answers and the question. */
const admitScript = `
${clock}${leavePart}
local job = redis.call('HMGET', KEYS[1], '${askedField}', '${answersField}', '${questionField}')
if not job[1] then return {'unasked', 0, '', ''} end
local asked = cjson.decode(job[1])
if asked.state == 'asked' and now >= asked.ends then
  ${goOnWhenFull('KEYS[1]')}
  asked.state = 'expired'
  redis.call('HSET', KEYS[1], '${askedField}', cjson.encode(asked))
  leave(KEYS[2], ARGV[1], ARGV[2])
end
return {asked.state, asked.ends - now, job[2] or '', job[3] or ''}
`

export interface AskingJob {
  queue: string
  id: string
  tenant: string | undefined
}

/**
 * `taken`: the answer counts, or `done` where the same was said before; `noted`, while others are open, or where the job went on
 * since. `answered`, `ended`, `expired`: it is too late. `other`: it is for another question. `unasked`: the tool has asked nothing.
 */
export type AnswerResult = 'taken' | 'noted' | 'done' | 'answered' | 'ended' | 'expired' | 'other' | 'unasked' | 'missing'

export interface GivenAnswer {
  /** JSON in one line. */
  answer: string
  /** That of the question. */
  number: number | undefined
  /** It fits the schema of that question. One that wasn't checked can only repeat what was answered before. */
  isChecked: boolean
}

/**
 * Notes an answer, once, and for good: replicas know it before anybody is told.
 *
 * @throws RedisUnavailableError, after which it may be noted
 */
export async function noteAnswer (
  { redis, replicas }: { redis: Redis, replicas?: Replicas }, { queue, id, tenant = '' }: AskingJob, { answer, number, isChecked }: GivenAnswer
): Promise<AnswerResult> {
  const keys = [jobKey(queue, id), heldKey(queue), queueKey(queue, 'delayed'), queueKey(queue, 'marker')]
  const args = [id, tenant, number ?? '', answer, jobChannel(id), isChecked ? 1 : '']
  return fromRedis<AnswerResult>(await runForGood(redis, replicas, answerScript, { keys, args }))
}

/** Notes that an answer didn't fit, for who must be asked again under another name. @throws RedisUnavailableError */
export async function noteRefusal (redis: Redis, { queue, id }: AskingJob, number: number, reason: string): Promise<void> {
  await whileAvailable(redis.eval(refuseScript, 1, jobKey(queue, id), number, reason, jobChannel(id)))
}

/** Asked by the worker that holds the job. */
export interface Asked {
  token: string
  questions: Questions
  /** Of the first one. */
  number: number
  /** The API process that waits for the job. */
  replyTo: string | undefined
  /** Of the index. */
  entries: readonly string[]
}

/** Notes questions. Answers for how many milliseconds the job is parked; undefined for one that is another worker's by now. */
export async function noteQuestion (
  redis: Redis, { queue, id }: AskingJob, { token, questions, number, replyTo, entries }: Asked
): Promise<number | undefined> {
  const ms = limits.question.answerSec * 1_000
  const at = serverTime(redis)
  const { more = [] } = questions
  const open = more.length === 0 ? {} : { open: [questions, ...more].map((_, place) => number + place) }
  const asked: AskedRecord = { state: 'asked', number, ...open, at, ends: at + ms }
  const told = `${id}-${writeThrough(inputRequired(questions, asked))}`
  const args = [token, writeThrough(questions), JSON.stringify(asked), jobChannel(id), replyTo === undefined ? '' : replyChannel(replyTo), told, ...entries]
  const keys = [jobKey(queue, id), jobPartKey(queue, id, 'lock'), heldKey(queue)]
  return await redis.eval(askScript, keys.length, ...keys, ...args) === 1 ? ms : undefined
}

/**
 * Tells whether a job may run again that a worker has taken and whose tool has asked; with the JSON of all answers, and its memo.
 * `unasked`: it was run again since, from its start, and has asked nothing in that run.
 */
export async function admitAsked (
  redis: Redis, { queue, id, tenant = '' }: AskingJob
): Promise<{ state: AskedRecord['state'] | 'unasked', leftMs: number, answers: string[], memo: string | undefined }> {
  const [state, leftMs, lines, question] = fromRedis<[AskedRecord['state'] | 'unasked', number, string, string]>(await redis.eval(
    admitScript, 2, jobKey(queue, id), heldKey(queue), id, tenant
  ))
  return { state, leftMs, answers: lines.split('\n').slice(0, -1), memo: question === '' ? undefined : readQuestions(question).memo }
}
