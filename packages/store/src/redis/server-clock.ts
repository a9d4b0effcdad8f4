import type { Redis } from './ioredis.ts'
import { clockKey } from './names.ts'
import { fromRedis } from './from-redis.ts'

/*
 * The time that all processes share is Redis' own. Each process measures how far it is from its own monotonic clock, so
 * asking for the time costs no round trip. Of a cluster's servers all processes ask the same one. See
 * docs/decisions/0028-one-clock.md.
 */

/** Between two measurements, in milliseconds. A step of Redis' clock is known after so long. */
const everyMs = 2_000
/** After so long, in milliseconds, a newer measurement counts, however long it took. */
const staleMs = 30_000
const timeScript = "return redis.call('TIME')"

interface Measured {
  /** Redis' time less the process's monotonic time, in milliseconds. */
  offsetMs: number
  /** By how much it may be wrong, in milliseconds. */
  errorMs: number
  /** When it was measured, by the process's monotonic time. */
  at: number
}

const clocks = new WeakMap<Redis, ServerClock>()

/** Redis' time, in milliseconds since 1970; this machine's own before Redis has told it. */
export function serverTime (redis: Redis): number {
  return clocks.get(redis)?.now() ?? Date.now()
}

/** Measures the time of the Redis that a connection leads to, as long as the connection is used. */
export function followServerTime (redis: Redis): void {
  const clock = new ServerClock(redis)
  clocks.set(redis, clock)
  let timer: NodeJS.Timeout | undefined
  const measure = (): void => { clock.measure().catch(() => {}) }
  redis.on('ready', () => {
    // It may be another server by now.
    clock.reset()
    measure()
    timer ??= setInterval(measure, everyMs).unref()
  })
  redis.on('close', () => {
    clearInterval(timer)
    timer = undefined
  })
}

class ServerClock {
  readonly #redis: Redis
  #measured: Measured | undefined

  constructor (redis: Redis) {
    this.#redis = redis
  }

  now (): number {
    return this.#measured === undefined ? Date.now() : Math.round(performance.now() + this.#measured.offsetMs)
  }

  /** The next measurement replaces what was measured. */
  reset (): void {
    if (this.#measured !== undefined) this.#measured.errorMs = Infinity
  }

  async measure (): Promise<void> {
    const sentAt = performance.now()
    const [sec, microsec] = fromRedis<[string, string]>(await this.#redis.eval(timeScript, 1, clockKey))
    const gotAt = performance.now()
    const errorMs = (gotAt - sentAt) / 2
    const offsetMs = Number(sec) * 1_000 + Number(microsec) / 1_000 - sentAt - errorMs
    const known = this.#measured
    const wasSet = known !== undefined && Math.abs(offsetMs - known.offsetMs) > errorMs + known.errorMs
    if (known === undefined || wasSet || errorMs <= known.errorMs || gotAt - known.at > staleMs) {
      this.#measured = { offsetMs, errorMs, at: gotAt }
    }
  }
}
