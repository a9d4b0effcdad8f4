import { type Redis, goOnWhenFull, serverTime } from '@toolyard/store'

/** KEYS: marker. */
const wakeScript = `
${goOnWhenFull('KEYS[1]')}
return redis.call('ZADD', KEYS[1], 0, '0')
`

/**
 * Wakes a worker if there is something to take: one that is woken in vain would pass it on again, and again.
 * KEYS: marker, prioritized, wait, delayed, meta. ARGV: the time.
 */
const passOnScript = `
${goOnWhenFull('KEYS[1]')}
local limits = redis.call('HMGET', KEYS[5], 'paused', 'concurrency', 'max')
if limits[1] or limits[2] or limits[3] then return 0 end
local first = redis.call('ZRANGE', KEYS[4], 0, 0, 'WITHSCORES')
local isDue = first[2] and tonumber(first[2]) < (ARGV[1] + 1) * 4096
if isDue or redis.call('ZCARD', KEYS[2]) > 0 or redis.call('LLEN', KEYS[3]) > 0 then redis.call('ZADD', KEYS[1], 0, '0') end
return 0
`

export class WakeUps {
  readonly #redis: Redis
  readonly #keyOf: (part: string) => string
  #hasWaited = false

  constructor (redis: Redis, keyOf: (part: string) => string) {
    this.#redis = redis
    this.#keyOf = keyOf
  }

  /** Wakes a worker: BullMQ wakes none for a job that has a priority. */
  async wake (): Promise<void> {
    await this.#redis.eval(wakeScript, 1, this.#keyOf('marker'))
  }

  /** The worker waits now: one that is woken, or looks by itself, does so in place of the others. */
  noteWait (): void {
    this.#hasWaited = true
  }

  /** Wakes another worker for what this one has waited for, and can't take now. */
  async passOn (): Promise<void> {
    if (!this.#hasWaited) return
    this.#hasWaited = false
    await this.wakeForWork()
  }

  /** Wakes a worker where there is something to take. */
  async wakeForWork (): Promise<void> {
    const keys = ['marker', 'prioritized', 'wait', 'delayed', 'meta'].map(part => this.#keyOf(part))
    await this.#redis.eval(passOnScript, keys.length, ...keys, serverTime(this.#redis))
  }
}
