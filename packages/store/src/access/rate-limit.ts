import type * as limiting from 'rate-limiter-flexible'
import type { Redis } from '../redis/connection.ts'
import { ownerOf } from '../redis/job-scope.ts'
import { load } from '../redis/ioredis.ts'
import { keyPrefix } from '../redis/names.ts'
import { RedisUnavailableError, whileAvailable } from '../redis/unavailable.ts'

/** Loaded by the processes that limit: it is limiters for a dozen kinds of stores. */
// eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- `require` knows no types.
const limiters = (): typeof limiting => load('rate-limiter-flexible') as typeof limiting

/** Counts the requests of tenants, and of API keys without one, by the minute, over all API processes. */
export class RateLimit {
  readonly #redis: Redis
  readonly #perMinute: (tenant: string | undefined) => number
  /** One for each limit that there is. */
  readonly #limiters = new Map<number, limiting.RateLimiterRedis>()

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
    return await whileAvailable(this.#limiter(perMinute).consume(ownerOf(from)).then(() => 0, (refusal: unknown) => {
      if (refusal instanceof limiters().RateLimiterRes) return Math.max(1, refusal.msBeforeNext)
      throw new RedisUnavailableError(refusal)
    }))
  }

  #limiter (points: number): limiting.RateLimiterRedis {
    const known = this.#limiters.get(points)
    if (known !== undefined) return known
    const made = new (limiters().RateLimiterRedis)({
      storeClient: this.#redis,
      keyPrefix: `${keyPrefix}:rate`,
      points,
      duration: 60,
      // Beyond the limit it is answered from memory, without Redis.
      inMemoryBlockOnConsumed: points
    })
    this.#limiters.set(points, made)
    return made
  }
}
