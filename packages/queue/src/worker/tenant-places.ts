import { randomUUID } from 'node:crypto'
import { memberOfLine } from '../queues/release.ts'
import { type Redis, fromRedis, goOnWhenFull, tenantLineKey, tenantPlacesKey, serverTime } from '@toolyard/store'

/*
 * How many calls of a tenant run at once, over all workers (`max_running`). A sorted set by tenant has the running calls, each
 * with the time by Redis' clock until which it counts. Its worker extends that time every second, so the calls of a dead
 * worker stop counting after ten seconds. There is no counter, so that nothing leaks. Tenants without a limit cost nothing.
 *
 * States of a job that finds no place: taken -> parked as delayed -> in its tenant's line -> being woken -> out of the line ->
 * taken again. Who frees a place wakes as many as there is room for, and so does each process once a second that has met a
 * line. A job whose waker is lost before it was woken is woken by another one. A job that nobody wakes comes by itself.
 */

/** Longer than a job's lock: a call that has stopped counting has ended. */
const leaseMs = 10_000
const renewMs = 1_000

/** A parked job comes by itself after so long, in milliseconds: the later, the more wait with it. */
const parkMs = { least: 60_000, perWaiting: 1_000, most: 600_000 }
/** Jobs that one command wakes. */
const mostWoken = 50
/** A job that is being woken for so long, in milliseconds, is woken again. */
const wakeMs = 2_000
/** A line that nobody uses is dropped after a day, in milliseconds. */
const lineMs = 86_400_000

/** KEYS: the set, the line. ARGV: now, until when it counts, limit, member. Whether there was room, and how many wait. */
const takeScript = `
${goOnWhenFull('KEYS[1]')}
local waiting = redis.call('ZCARD', KEYS[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1])
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) and not redis.call('ZSCORE', KEYS[1], ARGV[4]) then return {0, waiting} end
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[4])
redis.call('PEXPIRE', KEYS[1], ${2 * leaseMs})
return {1, waiting}
`

/**
 * KEYS: the set, the line, in which a job has 0, or since when it is being woken. ARGV: now, limit, a member that leaves its place, a
 * job that waits; each or nothing. Answers how many are in the line, and those to be woken: the first ones that there is room for, and
 * those whose waker was lost.
 */
const nextScript = `
${goOnWhenFull('KEYS[1]')}
if ARGV[3] ~= '' then redis.call('ZREM', KEYS[1], ARGV[3]) end
if ARGV[4] ~= '' then
  redis.call('ZADD', KEYS[2], 0, ARGV[4])
  redis.call('PEXPIRE', KEYS[2], ${lineMs})
end
local waiting = redis.call('ZCARD', KEYS[2])
if waiting == 0 then return {0} end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1])
local room = math.min(tonumber(ARGV[2]) - redis.call('ZCARD', KEYS[1]), ${mostWoken})
local woken = redis.call('ZRANGEBYSCORE', KEYS[2], 1, ARGV[1] - ${wakeMs}, 'LIMIT', 0, ${mostWoken})
if room > 0 then
  for _, job in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], 0, 0, 'LIMIT', 0, room)) do table.insert(woken, job) end
end
for _, job in ipairs(woken) do redis.call('ZADD', KEYS[2], ARGV[1], job) end
return {waiting, unpack(woken)}
`

/** KEYS: the line. ARGV: since when they were being woken, then jobs; one may wait again by now. Answers how many are in the line. */
const wokenScript = `
${goOnWhenFull('KEYS[1]')}
for at = 2, #ARGV do
  if tonumber(redis.call('ZSCORE', KEYS[1], ARGV[at])) == tonumber(ARGV[1]) then redis.call('ZREM', KEYS[1], ARGV[at]) end
end
return redis.call('ZCARD', KEYS[1])
`

/** KEYS: the set. ARGV: until when they count, then members. */
const renewScript = `
${goOnWhenFull('KEYS[1]')}
for at = 2, #ARGV do redis.call('ZADD', KEYS[1], ARGV[1], ARGV[at]) end
redis.call('PEXPIRE', KEYS[1], ${2 * leaseMs})
`

interface TenantPlacesParts {
  redis: Redis
  limitOf: (tenant: string | undefined) => number
  /** Lets a parked job come again. */
  wake: (job: { queue: string, id: string }) => Promise<void>
  onError: (error: unknown) => void
}

/** The places that calls of one worker process take of what their tenants may have. */
export class TenantPlaces {
  readonly #parts: TenantPlacesParts
  readonly #process = randomUUID()
  readonly #taken = new Map<string, Set<string>>()
  /** How many jobs of a tenant wait, as far as this process knows; none where it knows of none. */
  readonly #waiting = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor (parts: TenantPlacesParts) {
    this.#parts = parts
  }

  /** Takes a place for a job; gives what frees it, or undefined where the tenant has none left. */
  async take (tenant: string | undefined, jobId: string): Promise<(() => void) | undefined> {
    const { redis, limitOf, onError } = this.#parts
    const limit = limitOf(tenant)
    if (tenant === undefined || limit === 0) return () => {}
    const [member, now] = [`${this.#process} ${jobId}`, serverTime(redis)]
    const answer = redis.eval(takeScript, 2, ...keysOf(tenant), now, now + leaseMs, limit, member)
    const [hasRoom, waiting] = fromRedis<[0 | 1, number]>(await answer)
    this.#noteWaiting(tenant, waiting)
    if (hasRoom === 0) return undefined
    const taken = this.#taken.get(tenant) ?? new Set()
    this.#taken.set(tenant, taken.add(member))
    this.#start()
    return () => {
      taken.delete(member)
      if (taken.size === 0 && this.#taken.get(tenant) === taken) this.#taken.delete(tenant)
      this.#next(tenant, { leaves: member }).catch(onError)
    }
  }

  /** Parks a job that has found no place; it is woken when it may come again, which may be now. */
  async park (tenant = '', job: { queue: string, id: string }, park: (ms: number) => Promise<void>): Promise<void> {
    await park(Math.min(parkMs.most, parkMs.least + parkMs.perWaiting * (this.#waiting.get(tenant) ?? 0)))
    // It is parked, whatever becomes of this.
    await this.#next(tenant, { waits: memberOfLine(job) }).catch(this.#parts.onError)
  }

  stop (): void {
    this.#isStopped = true
    clearInterval(this.#timer)
  }

  #start (): void {
    if (!this.#isStopped) this.#timer ??= setInterval(() => { this.#renew() }, renewMs).unref()
  }

  #noteWaiting (tenant: string, waiting: number): void {
    this.#waiting.delete(tenant)
    if (waiting === 0) return
    this.#waiting.set(tenant, waiting)
    this.#start()
  }

  /** Wakes those that there is room for. */
  async #next (tenant: string, { leaves = '', waits = '' }: { leaves?: string, waits?: string } = {}): Promise<void> {
    const { redis, limitOf, wake } = this.#parts
    const limit = limitOf(tenant)
    const room = limit === 0 ? Number.MAX_SAFE_INTEGER : limit
    const now = serverTime(redis)
    const answer = redis.eval(nextScript, 2, ...keysOf(tenant), now, room, leaves, waits)
    const [waiting, ...woken] = fromRedis<[number, ...string[]]>(await answer)
    this.#noteWaiting(tenant, waiting)
    if (woken.length === 0) return
    await Promise.all(woken.map(async job => {
      const at = job.indexOf(' ')
      await wake({ id: job.slice(0, at), queue: job.slice(at + 1) })
    }))
    this.#noteWaiting(tenant, fromRedis<number>(await redis.eval(wokenScript, 1, tenantLineKey(tenant), now, ...woken)))
  }

  #renew (): void {
    const { redis, onError } = this.#parts
    const until = serverTime(redis) + leaseMs
    for (const [tenant, members] of this.#taken) {
      redis.eval(renewScript, 1, tenantPlacesKey(tenant), until, ...members).catch(onError)
    }
    for (const tenant of this.#waiting.keys()) this.#next(tenant).catch(onError)
  }
}

function keysOf (tenant: string): [string, string] {
  return [tenantPlacesKey(tenant), tenantLineKey(tenant)]
}
