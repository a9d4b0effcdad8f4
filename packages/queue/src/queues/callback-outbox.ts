import type { ApprovalCallbackData, ApprovalEvent, CallbackData, JobData, OutputRecord } from '@toolyard/contract'
import { grouped, limits } from '@toolyard/contract/terms'
import type { Job, Queue } from 'bullmq'
import {
  type Redis, serverTime, approvalEventsKey, callbackQueue, idOf, internalName, jobKey, keyPrefix, openCallbacksKey, openJobsKey,
  openOwnersKey, ownerOf, queueKey, goOnWhenFull, whileAvailable
} from '@toolyard/store'
import { bullmq } from '../record/bullmq.ts'
import type { FairOrder } from './fair-order.ts'
import { keepJobs } from '../record/retention.ts'
import { askedField, decodeAsked, hasAsked, timesAsked, type AskedRecord } from '../record/question.ts'
import { decodeFailure, runsOf } from '../record/settlement.ts'

/*
 * Which jobs owe a callback. Whoever may settle a job enters it first. After the job is settled, the callback is posted
 * and the entry removed; the upkeep of the workers does that for a process that died in between. See
 * docs/decisions/0039-callback-outbox.md.
 *
 * States of an entry: entered (the job runs, or waits for its next run) -> the job has ended -> posted and removed.
 */

/** How long callbacks that were sent, and those that were given up, are known. */
export const callbackRetention = { ageSec: 3_600, failedSec: 86_400, count: 10_000 }
const { completed: removeOnComplete, failed: removeOnFail } = keepJobs(callbackRetention)
const posting = { attempts: limits.callbackAttempts, backoff: { type: 'custom' }, removeOnComplete, removeOnFail, stackTraceLimit: 0 } as const
/** Callbacks of each kind that one turn removes. */
const atOnce = 1_000

/** A running job's callback is owed also where Redis is full. */
const enterScript = `${goOnWhenFull('KEYS[1]')}\nreturn redis.call('SADD', KEYS[1], ARGV[1])`
/** An entry stays where a callback that was posted for it isn't there: the master that took it was lost. KEYS: entries, callbacks. */
const ifPosted = "for at = 2, #KEYS do if redis.call('EXISTS', KEYS[at]) == 0 then return end end"
const keysOf = (entries: string, posted: readonly string[]): string[] => [entries, ...posted.map(id => jobKey(callbackQueue, id))]

/** An entry: a job that has a callback and may have ended. */
interface OpenCallback {
  queue: string
  jobId: string
}

/** Whose callback it is: tenants and keys take turns, so that receivers of one that don't answer hold up no others. */
interface CallbackOwner {
  keyName: string
  tenant?: string | undefined
}

/**
 * Callbacks that were posted and that nobody has taken yet are counted as unfinished jobs are, beside these. Those that a process left
 * which died are dropped as ended jobs are.
 */
function countedOf (owner: string): string {
  return openJobsKey(`@callbacks ${owner}`)
}

/** A callback was taken, or given up. */
export async function uncount (redis: Redis, owner: string, deliveryId: string): Promise<void> {
  await redis.zrem(countedOf(owner), memberOf({ queue: callbackQueue, jobId: deliveryId }))
}

/** Keeps account of the callbacks that jobs owe, and posts them. */
export class CallbackOutbox {
  readonly #redis: Redis
  readonly #order: FairOrder
  #posted: Queue<CallbackData | ApprovalCallbackData> | undefined

  constructor (redis: Redis, order: FairOrder) {
    this.#redis = redis
    this.#order = order
  }

  /** To be called before a job with a callback can be settled. */
  async enter (open: OpenCallback): Promise<void> {
    await this.#redis.eval(enterScript, 1, openCallbacksKey, memberOf(open))
  }

  /** Posts the callback of a job that has ended; repeating it changes nothing. */
  async post (queue: string, job: Job<JobData, OutputRecord>): Promise<void> {
    const asked = hasAsked(job) ? decodeAsked(await this.#redis.hget(jobKey(queue, idOf(job)), askedField)) : undefined
    const data = callbackOf(queue, job, asked)
    if (data === undefined) return
    const id = `${data.jobId}.${data.finishedOn}`
    await this.add(data, id, { keyName: job.data.keyName, tenant: job.data.tenant })
    await this.strikeOut({ queue, jobId: data.jobId }, [id])
  }

  /** How many callbacks of an owner nobody has taken yet. @throws RedisUnavailableError */
  async count (owner: string): Promise<number> {
    return await whileAvailable(this.#redis.zcard(countedOf(owner)))
  }

  /** Posts a callback; repeating it changes nothing. */
  async add (data: Omit<CallbackData, 'owner'> | Omit<ApprovalCallbackData, 'owner'>, jobId: string, owner: CallbackOwner): Promise<void> {
    const line = { queue: callbackQueue, priority: limits.priority.default, keyName: owner.keyName, tenant: owner.tenant }
    const { priorities: [priority = 1], settle } = await this.#order.take(line, 1)
    try {
      const owned = { ...data, owner: ownerOf(owner) }
      await this.#redis.zadd(countedOf(owned.owner), serverTime(this.#redis), memberOf({ queue: callbackQueue, jobId }))
      await this.#redis.sadd(openOwnersKey, `@callbacks ${owned.owner}`)
      await this.#queue().add(data.type, owned, { jobId, priority, ...posting })
    } finally {
      settle()
    }
  }

  /** Ends an entry: its callback was posted, or its job is gone. */
  async strikeOut (open: OpenCallback, posted: readonly string[] = []): Promise<void> {
    const keys = keysOf(openCallbacksKey, posted)
    await this.#redis.eval(`${ifPosted} return redis.call('SREM', KEYS[1], ARGV[1])`, keys.length, ...keys, memberOf(open))
  }

  /** Some of the entries; `cursor` is '0' for the first, and when there are no more. */
  async scan (cursor: string, count: number): Promise<{ cursor: string, open: OpenCallback[] }> {
    const [next, members] = await this.#redis.sscan(openCallbacksKey, cursor, 'COUNT', count)
    return { cursor: next, open: members.map(parse) }
  }

  /** Removes callbacks that are older than they are kept: BullMQ does so only when another one ends. */
  async dropOld (): Promise<void> {
    // Opening a queue leaves keys in Redis. Where no job ever had a callback there is nothing to open.
    const ended = ['completed', 'failed'].map(state => queueKey(callbackQueue, state))
    if (await this.#redis.exists(...ended) === 0) return
    const now = serverTime(this.#redis)
    const { backend } = this.#queue()
    await backend.cleanJobsByState('completed', now - callbackRetention.ageSec * 1_000, atOnce)
    await backend.cleanJobsByState('failed', now - callbackRetention.failedSec * 1_000, atOnce)
  }

  async close (): Promise<void> { await this.#posted?.close() }

  #queue (): Queue<CallbackData | ApprovalCallbackData> {
    if (this.#posted === undefined) {
      this.#posted = new bullmq.Queue<CallbackData | ApprovalCallbackData>(internalName(callbackQueue), {
        connection: this.#redis, prefix: keyPrefix, skipVersionCheck: true, streams: { events: { maxLen: 100 } }
      })
      // The connection reports its own errors.
      this.#posted.on('error', () => {})
    }
    return this.#posted
  }
}

/** Undefined when the job has no callback, or hasn't ended. */
function callbackOf (queue: string, job: Job<JobData, OutputRecord>, asked: AskedRecord | undefined): Omit<CallbackData, 'owner'> | undefined {
  const { id, data: { callbackUrl: url }, finishedOn, returnvalue } = job
  if (id === undefined || url === undefined || finishedOn === undefined) return undefined
  return {
    url,
    queue,
    jobId: id,
    type: job.name,
    attempts: runsOf(job.attemptsStarted, job.failedReason) + timesAsked(asked),
    maxAttempts: job.opts.attempts ?? limits.attempts.default,
    // A job that succeeded after a failed run has a reason, too.
    settlement: hasOutput(returnvalue) ? { ok: true, output: returnvalue } : { ok: false, error: decodeFailure(job.failedReason) },
    finishedOn
  }
}

function hasOutput (value: OutputRecord | null | undefined): value is OutputRecord {
  return value !== null && value !== undefined
}

function memberOf ({ queue, jobId }: OpenCallback): string {
  return `${jobId} ${queue}`
}

function parse (member: string): OpenCallback {
  const at = member.indexOf(' ')
  return { jobId: member.slice(0, at), queue: member.slice(at + 1) }
}

/*
 * Events that approvers may have to be told of. Whoever is about to hold a call, or to decide about one, enters it first. The upkeep of
 * the workers looks whether it came to be, and posts its callbacks: so none is lost with a process that dies in between. Owners take
 * turns there, so that thousands of calls of one don't keep back what another one's approvers wait for.
 */

export interface OpenEvent {
  queue: string
  jobId: string
  event: ApprovalEvent
  /** Its call has a callback of its own, beside that of all held calls. */
  hasOwn: boolean
  /** When it was entered, in milliseconds since 1970, by Redis' clock. */
  at: number
}

interface EnteredCall extends CallbackOwner {
  queue: string
  id: string
  callbackUrl?: string | undefined
}

/** KEYS: owners, the events of one. ARGV: the owner; times and entries. An owner that had none has the first turn. */
const enterEventsScript = `
redis.call('ZADD', KEYS[2], unpack(ARGV, 2))
redis.call('ZADD', KEYS[1], 'NX', 0, ARGV[1])
`

/** To be called before the calls are held, or decided about. @throws RedisUnavailableError */
export async function enterEvents (redis: Redis, event: ApprovalEvent, calls: readonly EnteredCall[]): Promise<void> {
  const at = String(serverTime(redis))
  for (const [owner, own] of grouped(calls, ownerOf)) {
    const entries = own.flatMap(call => [at, eventMember({ ...call, jobId: call.id, event, hasOwn: call.callbackUrl !== undefined })])
    await whileAvailable(redis.eval(enterEventsScript, 2, approvalEventsKey(), approvalEventsKey(owner), owner, ...entries))
  }
}

/** The owners of events whose turn is next, so many of them. */
export async function eventOwners (redis: Redis, most: number): Promise<string[]> {
  return await redis.zrange(approvalEventsKey(), '0', String(most - 1))
}

/** An owner has its turn now: the next one is behind all others. */
export async function beginTurn (redis: Redis, owner: string): Promise<void> {
  await redis.zadd(approvalEventsKey(), 'XX', String(serverTime(redis)), owner)
}

/** To be called when an owner seems to have no more events. */
export async function leaveEvents (redis: Redis, owner: string, keys = [approvalEventsKey(), approvalEventsKey(owner)]): Promise<void> {
  const script = "if redis.call('EXISTS', KEYS[2]) == 0 then redis.call('ZREM', KEYS[1], ARGV[1]) end"
  await redis.eval(script, keys.length, ...keys, owner)
}

/** Those of an owner that were entered first, behind so many of them. */
export async function openEvents (redis: Redis, owner: string, { behind, most }: { behind: number, most: number }): Promise<OpenEvent[]> {
  const flat = await redis.zrange(approvalEventsKey(owner), String(behind), String(behind + most - 1), 'WITHSCORES')
  return flat.flatMap((member, place) => {
    if (place % 2 === 1) return []
    const [jobId = '', queue = '', event = '', own] = member.split(' ')
    const at = Number(flat[place + 1])
    return [{ jobId, queue, event: event === 'approval.decided' ? event : 'approval.requested', hasOwn: own !== undefined, at }]
  })
}

/** Ends entries of which nobody is to be told. */
export async function strikeOutEvents (redis: Redis, owner: string, events: readonly OpenEvent[]): Promise<void> {
  if (events.length > 0) await redis.zrem(approvalEventsKey(owner), ...events.map(eventMember))
}

/** Ends an entry, unless it was entered anew meanwhile. */
export async function strikeOutEvent (redis: Redis, owner: string, open: OpenEvent, posted: readonly string[]): Promise<void> {
  const script = `${ifPosted} if redis.call('ZSCORE', KEYS[1], ARGV[1]) == ARGV[2] then redis.call('ZREM', KEYS[1], ARGV[1]) end`
  const keys = keysOf(approvalEventsKey(owner), posted)
  await redis.eval(script, keys.length, ...keys, eventMember(open), open.at)
}

function eventMember ({ jobId, queue, event, hasOwn }: Omit<OpenEvent, 'at'>): string {
  return `${jobId} ${queue} ${event}${hasOwn ? ' own' : ''}`
}
