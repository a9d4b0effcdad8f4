import { grouped } from '@toolyard/contract/terms'
import { type Redis, openJobsKey, openOwnersKey, serverTime, whileAvailable, ForgetfulMap, fromRedis } from '@toolyard/store'
import { standingOf } from '../record/job-standing.ts'

/*
 * How many unfinished jobs an owner has (`MAX_JOBS_PER_KEY`), over all queues and API processes. A sorted set by owner
 * has the jobs that were made; ended ones are dropped when it fills up, and by the upkeep. In the upper half of the limit
 * an add waits for its entry, below it doesn't. See docs/decisions/0012-cheap-limits.md.
 */

const freshMs = 1_000
/** Jobs are entered so late at most, in milliseconds. */
const enteredMs = 10
/** Sets of owners that make no more jobs are dropped after two days. */
const keptSec = 172_800
/** Members that are looked at, or entered, in one round trip. */
const batchSize = 500

/**
 * KEYS: the set. ARGV: limit, time, members. Enters as many members as there is room for.
 * Answers the size of the set, then the places of the members that found none.
 */
const enterScript = `
local size = redis.call('ZCARD', KEYS[1])
if size + #ARGV - 2 <= tonumber(ARGV[1]) then
  local entries = {}
  for place = 3, #ARGV do
    entries[2 * place - 5], entries[2 * place - 4] = ARGV[2], ARGV[place]
  end
  size = size + redis.call('ZADD', KEYS[1], 'NX', unpack(entries))
  redis.call('EXPIRE', KEYS[1], ${keptSec})
  return {size}
end
local answer = {0}
for place = 3, #ARGV do
  if redis.call('ZSCORE', KEYS[1], ARGV[place]) == false then
    if size < tonumber(ARGV[1]) then
      redis.call('ZADD', KEYS[1], ARGV[2], ARGV[place])
      size = size + 1
    else
      table.insert(answer, place - 3)
    end
  end
end
redis.call('EXPIRE', KEYS[1], ${keptSec})
answer[1] = size
return answer
`

interface OwnerView {
  size: number
  readAt: number
  tidying: Promise<void> | undefined
  /** Members that are still to be entered, and when they will be. */
  later: string[]
  entering: NodeJS.Timeout | undefined
}

/** An owner, and how many unfinished jobs it may have; 0 for any number. */
export interface OwnerLimit {
  owner: string
  max: number
}

/** Counts the unfinished jobs of owners: see `ownerOf`. */
export class OpenJobs {
  readonly #redis: Redis
  readonly #views = new ForgetfulMap<OwnerView>(() => ({ size: 0, readAt: -Infinity, tidying: undefined, later: [], entering: undefined }))

  constructor (redis: Redis) {
    this.#redis = redis
  }

  /**
   * Enters jobs that are about to be added; one that was entered before counts once.
   *
   * @returns the ids of jobs beyond the owner's limit.
   * @throws RedisUnavailableError
   */
  async enter ({ owner, max }: OwnerLimit, queue: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
    if (max === 0) return new Set()
    const view = this.#views.of(owner)
    const members = ids.map(id => `${id} ${queue}`)
    view.size += ids.length
    if (view.size <= max / 2 && performance.now() - view.readAt < freshMs) {
      view.later.push(...members)
      view.entering ??= setTimeout(() => { this.#enterLater({ owner, max }, view).catch(() => {}) }, enteredMs).unref()
      return new Set()
    }
    await this.#enterLater({ owner, max }, view)
    let places = await this.#enter({ owner, max }, view, members)
    if (places.length > 0) {
      await (view.tidying ??= tidy(this.#redis, owner).finally(() => { view.tidying = undefined }))
      places = await this.#enter({ owner, max }, view, members)
    } else if (view.size > max / 2) {
      // Before it is full: no request has to wait for this.
      view.tidying ??= tidy(this.#redis, owner).catch(() => {}).finally(() => { view.tidying = undefined })
    }
    return new Set(places.flatMap(place => ids[place] ?? []))
  }

  async #enterLater (limit: OwnerLimit, view: OwnerView): Promise<void> {
    clearTimeout(view.entering)
    view.entering = undefined
    while (view.later.length > 0) await this.#enter(limit, view, view.later.splice(0, batchSize))
  }

  async #enter ({ owner, max }: OwnerLimit, view: OwnerView, members: readonly string[]): Promise<number[]> {
    const answer = fromRedis<[number, ...number[]]>(await whileAvailable(
      this.#redis.eval(enterScript, 1, openJobsKey(owner), max, serverTime(this.#redis), ...members)
    ))
    // After the entries: see `dropEndedJobs`.
    this.#redis.sadd(openOwnersKey, owner).catch(() => {})
    const [size, ...places] = answer
    view.size = size + view.later.length
    view.readAt = performance.now()
    return places
  }
}

/**
 * Drops the ended jobs of all owners, also of those that make no more. To be called now and then.
 *
 * @throws RedisUnavailableError
 */
export async function dropEndedJobs (redis: Redis): Promise<void> {
  for (const owner of await whileAvailable(redis.smembers(openOwnersKey))) {
    // Before `tidy`: an add enters its job first and notes the owner afterwards, so an owner that gets a job meanwhile is noted again.
    await whileAvailable(redis.srem(openOwnersKey, owner))
    try {
      await tidy(redis, owner)
    } finally {
      if (await whileAvailable(redis.exists(openJobsKey(owner))) === 1) await whileAvailable(redis.sadd(openOwnersKey, owner))
    }
  }
}

/** Drops the jobs of an owner that have ended or are gone; those that were made just now may not be there yet. */
async function tidy (redis: Redis, owner: string): Promise<void> {
  const settledBefore = serverTime(redis) - 2_000
  const members = await whileAvailable(redis.zrange(openJobsKey(owner), '0', '-1', 'WITHSCORES'))
  for (let start = 0; start < members.length; start += 2 * batchSize) {
    const part = members.slice(start, start + 2 * batchSize)
    const entries = part.flatMap((member, index) => index % 2 === 0 ? [{ member, at: Number(part[index + 1]) }] : [])
    const ended: Array<{ member: string }> = []
    for (const [queue, own] of grouped(entries, ({ member }) => queueOf(member))) {
      const standings = await standingOf(redis, queue, own.map(({ member }) => member.slice(0, member.indexOf(' '))))
      ended.push(...own.filter(({ at }, place) => standings[place] === 'ended' || (standings[place] === 'gone' && at < settledBefore)))
    }
    if (ended.length > 0) await whileAvailable(redis.zrem(openJobsKey(owner), ...ended.map(({ member }) => member)))
  }
}

function queueOf (member: string): string {
  return member.slice(member.indexOf(' ') + 1)
}
