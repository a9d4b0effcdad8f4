import { randomUUID } from 'node:crypto'
import { type Redis, goOnWhenFull, tenantPlacesKey, serverTime } from '@toolyard/store'

/*
 * How many calls of a tenant run at once, over all workers (`max_running`). A sorted set by tenant has the running calls, each
 * with the time by Redis' clock until which it counts. Its worker extends that time every second, so the calls of a dead
 * worker stop counting after ten seconds. There is no counter, so that nothing leaks. Tenants without a limit cost nothing.
 */

/** Longer than a job's lock: a call that has stopped counting has ended. */
const leaseMs = 10_000
const renewMs = 1_000

/** KEYS: the set. ARGV: now, until when it counts, limit, member. Whether there was room. */
const takeScript = `
${goOnWhenFull('KEYS[1]')}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1])
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) and not redis.call('ZSCORE', KEYS[1], ARGV[4]) then return 0 end
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[4])
redis.call('PEXPIRE', KEYS[1], ${2 * leaseMs})
return 1
`

/** KEYS: the set. ARGV: until when they count, then members. */
const renewScript = `
${goOnWhenFull('KEYS[1]')}
for at = 2, #ARGV do redis.call('ZADD', KEYS[1], ARGV[1], ARGV[at]) end
redis.call('PEXPIRE', KEYS[1], ${2 * leaseMs})
`

/** The places that calls of one worker process take of what their tenants may have. */
export class TenantPlaces {
  readonly #redis: Redis
  readonly #limitOf: (tenant: string | undefined) => number
  readonly #onError: (error: unknown) => void
  readonly #process = randomUUID()
  readonly #taken = new Map<string, Set<string>>()
  #timer: NodeJS.Timeout | undefined

  constructor (redis: Redis, limitOf: (tenant: string | undefined) => number, onError: (error: unknown) => void) {
    this.#redis = redis
    this.#limitOf = limitOf
    this.#onError = onError
  }

  /** Takes a place for a job; gives what frees it, or undefined where the tenant has none left. */
  async take (tenant: string | undefined, jobId: string): Promise<(() => void) | undefined> {
    const limit = this.#limitOf(tenant)
    if (tenant === undefined || limit === 0) return () => {}
    const [key, member, now] = [tenantPlacesKey(tenant), `${this.#process} ${jobId}`, serverTime(this.#redis)]
    if (await this.#redis.eval(takeScript, 1, key, now, now + leaseMs, limit, member) !== 1) return undefined
    const taken = this.#taken.get(key) ?? new Set()
    this.#taken.set(key, taken.add(member))
    this.#timer ??= setInterval(() => { this.#renew() }, renewMs).unref()
    return () => {
      taken.delete(member)
      if (taken.size === 0 && this.#taken.get(key) === taken) this.#taken.delete(key)
      this.#redis.zrem(key, member).catch(this.#onError)
    }
  }

  stop (): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #renew (): void {
    const until = serverTime(this.#redis) + leaseMs
    for (const [key, members] of this.#taken) {
      this.#redis.eval(renewScript, 1, key, until, ...members).catch(this.#onError)
    }
  }
}
