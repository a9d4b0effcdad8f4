import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { unlessAborted } from '@toolyard/runtime'
import type { Redis } from '../redis/connection.ts'
import { entryLockKey } from '../redis/names.ts'
import { asRedisError, type whileAvailable } from '../redis/unavailable.ts'

/*
 * The locks of files, which all workers share. They are in Redis, where no tool can write: nothing that is planted in a
 * workspace holds one. A lock is free, or held for a few seconds at a time (by Redis' own clock) by a holder that renews
 * it. The holder counts from the moment before it asked, by its own clock, so that it knows of the end first.
 */

interface EntryLease {
  /** Whether it certainly is. */
  isHeld (): boolean
  release (): void
}

/** How long a lock lasts unless it is renewed, in milliseconds. */
const lockMs = 3_000
const renewMs = lockMs / 4
/** Between two attempts to take a lock, in milliseconds. */
const retryMs = { first: 2, max: 50 }

/** A command that is sent again after a reconnect finds its own lock. */
const takeScript = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`
const renewScript = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0"
const releaseScript = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"

export class EntryLocks {
  readonly #redis: Redis
  readonly #answered: typeof whileAvailable

  /** @param answered waits for an answer of Redis, by default as long as it takes: a worker waits until Redis is back. */
  constructor (redis: Redis, answered: typeof whileAvailable = async answer => await answer) {
    this.#redis = redis
    this.#answered = answered
  }

  /**
   * Fulfilled when the lock is held, until `release`, or until Redis has not been heard of for 3 s.
   *
   * @throws the signal's reason when it aborts before; RedisFullError; RedisUnavailableError.
   */
  async take (name: string, signal: AbortSignal): Promise<EntryLease> {
    const key = entryLockKey(createHash('sha256').update(name).digest('base64url'))
    const token = randomUUID()
    for (let waitMs = retryMs.first; ; waitMs = Math.min(waitMs * 2, retryMs.max)) {
      signal.throwIfAborted()
      const heldUntil = await this.#tryTake(key, token, signal)
      if (heldUntil !== undefined) return this.#lease(key, token, heldUntil)
      await delay(waitMs * (0.5 + Math.random()), undefined, { signal })
    }
  }

  /** Until when the lock is held at least; undefined when somebody else holds it. */
  async #tryTake (key: string, token: string, signal: AbortSignal): Promise<number | undefined> {
    const askedAt = performance.now()
    const answer = this.#redis.eval(takeScript, 1, key, token, lockMs)
    try {
      return await unlessAborted(this.#answered(answer), signal) === 1 ? askedAt + lockMs : undefined
    } catch (error) {
      // It may be taken all the same, later.
      void answer.then(() => { this.#release(key, token) }, () => {})
      throw signal.aborted ? error : asRedisError(error)
    }
  }

  #lease (key: string, token: string, begunUntil: number): EntryLease {
    let heldUntil = begunUntil
    const renew = async (): Promise<void> => {
      const askedAt = performance.now()
      const renewed = await this.#redis.eval(renewScript, 1, key, token, lockMs)
      heldUntil = renewed === 1 ? askedAt + lockMs : -Infinity
    }
    const timer = setInterval(() => { renew().catch(() => {}) }, renewMs).unref()
    return {
      isHeld: () => performance.now() < heldUntil,
      release: () => {
        clearInterval(timer)
        this.#release(key, token)
      }
    }
  }

  /** One that can't be given back ends by itself. */
  #release (key: string, token: string): void {
    void this.#redis.eval(releaseScript, 1, key, token).catch(() => {})
  }
}
