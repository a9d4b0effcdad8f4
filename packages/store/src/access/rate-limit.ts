import { fromRedis } from '../redis/from-redis.ts'
import { BoundedMap } from '../redis/bounded-map.ts'
import type { Redis } from '../redis/connection.ts'
import { ownerOf } from '../redis/job-scope.ts'
import { keyPrefix } from '../redis/names.ts'
import { RedisUnavailableError, whileAvailable } from '../redis/unavailable.ts'

/**
 * The minute ends by Redis' own clock, which may have been set back. ARGV: milliseconds. Answers how many requests there were in it,
 * and what is left of it.
 */
const countScript = `
redis.call('SET', KEYS[1], 0, 'PX', ARGV[1], 'NX')
local requests, left = redis.call('INCR', KEYS[1]), redis.call('PTTL', KEYS[1])
if left > tonumber(ARGV[1]) then
  left = tonumber(ARGV[1])
  redis.call('PEXPIRE', KEYS[1], left)
end
return {requests, left}
`
const minuteMs = 60_000

interface Refusal {
  /** By `performance.now()`: the machine's clock may be set. */
  until: number
  /** The limit that it was for. */
  perMinute: number
}

/** Counts the requests of tenants, and of API keys without one, by the minute, over all API processes. */
export class RateLimit {
  readonly #redis: Redis
  readonly #perMinute: (tenant: string | undefined) => number
  /** Beyond the limit it is answered from memory, without Redis. */
  readonly #refused = new BoundedMap<Refusal>(() => ({ until: -Infinity, perMinute: 0 }))

  /** @param perMinute requests that one may make in a minute, which begins with its first one; 0 for any number. */
  constructor (redis: Redis, perMinute: (tenant: string | undefined) => number) {
    this.#redis = redis
    this.#perMinute = perMinute
  }

  /**
   * Counts a request.
   *
   * @returns milliseconds until the next one may be made; 0 when this one is within the limit.
   * @throws RedisUnavailableError
   */
  async count (from: { tenant: string | undefined, keyName: string }): Promise<number> {
    const perMinute = this.#perMinute(from.tenant)
    if (perMinute === 0) return 0
    const owner = ownerOf(from)
    const refused = this.#refused.of(owner)
    const leftMs = refused.perMinute === perMinute ? refused.until - performance.now() : 0
    if (leftMs > 0) return Math.ceil(leftMs)
    const counting = this.#redis.eval(countScript, 1, `${keyPrefix}:rate:${owner}`, minuteMs)
    const counted = await whileAvailable(counting).catch((error: unknown) => { throw asUnavailable(error) })
    const [requests, endsInMs] = fromRedis<[number, number]>(counted)
    if (requests <= perMinute) return 0
    const waitMs = Math.max(1, endsInMs)
    Object.assign(refused, { until: performance.now() + waitMs, perMinute })
    return waitMs
  }
}

/** Nobody is let in uncounted, whatever Redis says. */
function asUnavailable (error: unknown): RedisUnavailableError {
  return error instanceof RedisUnavailableError ? error : new RedisUnavailableError(error)
}
