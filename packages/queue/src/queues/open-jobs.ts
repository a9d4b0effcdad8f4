import { grouped } from '@toolyard/contract/terms'
import { setTimeout as delay } from 'node:timers/promises'
import { type Redis, openJobsKey, openOwnersKey, serverTime, takeTurn, upkeepKey, whileAvailable, BoundedMap, fromRedis } from '@toolyard/store'
import { standingOf } from '../record/job-standing.ts'

/*
 * How many unfinished jobs an owner has (`MAX_JOBS_PER_KEY`), over all queues and API processes. A sorted set by owner
 * has the jobs that were made. In the upper half of the limit an add waits for its entry, below it doesn't.
 *
 * Ended jobs are dropped a page at a time: by the upkeep, while the owner is in the upper half of its limit, and before an add
 * is refused. Of an owner's pages there are only so many in a time, whatever number of adds and processes wants them: a small
 * set is read whole at each refusal, a large one bit by bit. See docs/decisions/0012-cheap-limits.md.
 */

const freshMs = 1_000
/** After its last add, pages of an owner are read for so long, in milliseconds. */
const activeMs = 2_000
/** An add that is to be refused waits so long at most for a page, in milliseconds. */
const patienceMs = 500
/** Between two pages of a process, in milliseconds. */
const pauseMs = 50
/** Members of an owner that are read in a millisecond, over all processes: some percent of what Redis can do. */
const readPerMs = 10
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
  addedAt: number
  /** Where its next page begins. */
  cursor: string
  isTidying: boolean
  /** A page that is being read, and one that is read after it. */
  reading: Promise<void> | undefined
  next: Promise<void> | undefined
  /** Members that are still to be entered, and when they will be. */
  later: string[]
  entering: NodeJS.Timeout | undefined
}

/** An owner, and how many unfinished jobs it may have; 0 for any number. */
interface OwnerLimit {
  owner: string
  max: number
}

/** Counts the unfinished jobs of owners: see `ownerOf`. */
export class OpenJobs {
  readonly #redis: Redis
  readonly #views = new BoundedMap<OwnerView>(() => ({
    size: 0,
    readAt: -Infinity,
    addedAt: -Infinity,
    cursor: '0',
    isTidying: false,
    reading: undefined,
    next: undefined,
    later: [],
    entering: undefined
  }))

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
    view.addedAt = performance.now()
    if (places.length > 0) {
      await this.#readPage(owner, view)
      places = await this.#enter({ owner, max }, view, members)
    }
    if (view.size > max / 2) void this.#tidy({ owner, max }, view)
    return new Set(places.flatMap(place => ids[place] ?? []))
  }

  /** Drops ended jobs by the page while the owner makes jobs, and has many. No add waits for it. */
  async #tidy ({ owner, max }: OwnerLimit, view: OwnerView): Promise<void> {
    if (view.isTidying) return
    view.isTidying = true
    try {
      while (view.size > max / 2 && performance.now() - view.addedAt < activeMs) {
        await this.#readPage(owner, view)
        await delay(pauseMs, undefined, { ref: false })
      }
    } catch {
      // The next add begins anew.
    } finally {
      view.isTidying = false
    }
  }

  /** Drops the ended jobs of a page that is read after this call; callers share one. */
  async #readPage (owner: string, view: OwnerView): Promise<void> {
    const read = async (): Promise<void> => {
      try {
        view.size -= await dropPage(this.#redis, owner, view)
      } finally {
        view.reading = undefined
      }
    }
    if (view.reading === undefined) {
      view.reading = read()
      await view.reading
      return
    }
    view.next ??= view.reading.catch(() => {}).then(() => {
      view.next = undefined
      view.reading = read()
      return view.reading
    })
    await view.next
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
    // Before the look: an add enters its job first and notes the owner afterwards, so an owner that gets a job meanwhile is noted again.
    await whileAvailable(redis.srem(openOwnersKey, owner))
    try {
      const place = { cursor: '0' }
      do {
        const page = await nextPage(redis, owner, place)
        await dropEnded(redis, owner, page)
        await delay(page.length / 2 / readPerMs)
      } while (place.cursor !== '0')
    } finally {
      if (await whileAvailable(redis.exists(openJobsKey(owner))) === 1) await whileAvailable(redis.sadd(openOwnersKey, owner))
    }
  }
}

/** Reads the next page of an owner when it may be read, and drops what has ended; how many that were. */
async function dropPage (redis: Redis, owner: string, view: OwnerView): Promise<number> {
  const restMs = Math.floor(Math.min(batchSize, view.size) / readPerMs)
  const giveUpAt = performance.now() + patienceMs
  const isTurn = async (): Promise<boolean> => (
    restMs === 0 || await whileAvailable(takeTurn(redis, upkeepKey(`open-jobs:${owner}`), restMs))
  )
  while (!await isTurn()) {
    if (performance.now() > giveUpAt) return 0
    await delay(restMs)
  }
  return await dropEnded(redis, owner, await nextPage(redis, owner, view))
}

async function nextPage (redis: Redis, owner: string, place: { cursor: string }): Promise<string[]> {
  const [next, page] = await whileAvailable(redis.zscan(openJobsKey(owner), place.cursor, 'COUNT', batchSize))
  place.cursor = next
  return page
}

/** Drops those of a page that have ended or are gone; those that were made just now may not be there yet. */
async function dropEnded (redis: Redis, owner: string, page: readonly string[]): Promise<number> {
  const settledBefore = serverTime(redis) - 2_000
  const entries = page.flatMap((member, index) => index % 2 === 0 ? [{ member, at: Number(page[index + 1]) }] : [])
  const ended: string[] = []
  for (const [queue, own] of grouped(entries, ({ member }) => queueOf(member))) {
    const standings = await standingOf(redis, queue, own.map(({ member }) => member.slice(0, member.indexOf(' '))))
    const over = own.filter(({ at }, place) => standings[place] === 'ended' || (standings[place] === 'gone' && at < settledBefore))
    ended.push(...over.map(({ member }) => member))
  }
  return ended.length === 0 ? 0 : await whileAvailable(redis.zrem(openJobsKey(owner), ...ended))
}

function queueOf (member: string): string {
  return member.slice(member.indexOf(' ') + 1)
}
