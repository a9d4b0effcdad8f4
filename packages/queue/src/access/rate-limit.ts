import { createRequire } from 'node:module'
import type * as limiting from 'rate-limiter-flexible'
import type { Redis } from '../redis/connection.ts'
import { keyPrefix } from '../redis/names.ts'
import { RedisUnavailableError } from '../redis/unavailable.ts'

/** Loaded by the processes that limit: it is limiters for a dozen kinds of stores. */
const load = createRequire(import.meta.url)
const limiters = (): typeof limiting => load('rate-limiter-flexible') as typeof limiting

/** Counts the requests of owners (`ownerOf`) by the minute (`RATE_LIMIT_PER_MINUTE`), over all API processes. */
export class RateLimit {
  readonly #limiter: limiting.RateLimiterRedis

  /** @param perMinute requests that an owner may make in a minute; the minute begins with its first one. */
  constructor (redis: Redis, perMinute: number) {
    this.#limiter = new (limiters().RateLimiterRedis)({
      storeClient: redis,
      keyPrefix: `${keyPrefix}:rate`,
      points: perMinute,
      duration: 60,
      // What is over the limit is answered from memory, without Redis.
      inMemoryBlockOnConsumed: perMinute
    })
  }

  /**
   * Counts a request.
   *
   * @returns milliseconds until the owner may make another one; 0 when this one is within the limit.
   * @throws RedisUnavailableError
   */
  async count (owner: string): Promise<number> {
    try {
      await this.#limiter.consume(owner)
      return 0
    } catch (refusal) {
      if (refusal instanceof limiters().RateLimiterRes) return Math.max(1, refusal.msBeforeNext)
      throw new RedisUnavailableError(refusal)
    }
  }
}
