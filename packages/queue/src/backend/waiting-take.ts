import type { Redis } from '../redis/connection.ts'

/** Redis' reply to BZPOPMIN. */
export type Marker = [key: string, member: string, score: string]

/** Sends the command that takes a job; the first reply is a list, whose first element is one too when there was a job. */
export type Take = (redis: Redis) => Promise<unknown[]>

/** What was taken when a wait ended. */
export interface Taken {
  /** The script's reply. */
  reply: unknown[]
  /** Milliseconds since the wait was sent, by whichever clock shows more: one stands still while a machine sleeps, the other may be set back. What was taken is no older. */
  ageMs: number
}

/**
 * A worker's wait for a job. The command that takes the job is sent together with the one that waits, which saves a round
 * trip. So Redis may take a job for a worker that is gone or stands still; the job comes back when its lock has run out.
 * See docs/decisions/0018-waiting-take.md.
 */
export class WaitingTake {
  readonly #redis: Redis
  readonly #bzpopmin: (marker: string, timeoutSec: number) => Promise<Marker | null>
  #prepared: { token: string, take: Take } | undefined
  #taken: { token: string, reply: unknown[], sentAt: number, sentDate: number } | undefined

  /** @param redis a connection of its own */
  constructor (redis: Redis) {
    this.#redis = redis
    this.#bzpopmin = redis.bzpopmin.bind(redis)
  }

  /** The next wait takes its job so, for the holder of this token. */
  prepare (token: string, take: Take): void {
    this.#prepared = { token, take }
  }

  /** Waits for a queue's marker, for so many seconds at most; null when there was none. */
  async wait (marker: string, timeoutSec: number): Promise<Marker | null> {
    this.#taken = undefined
    const { token, take } = this.#prepared ?? {}
    const [sentAt, sentDate] = [performance.now(), Date.now()]
    const waiting = this.#bzpopmin(marker, timeoutSec)
    const taking = take === undefined ? Promise.resolve([]) : take(this.#redis)
    // A wait that failed or was given up has no caller: its job comes back when the lock has run out.
    taking.catch(() => {})
    const found = await waiting
    const [reply] = await taking.catch(() => [])
    const hasJob = Array.isArray(reply) && Array.isArray(reply[0])
    // At the end of a wait in vain the worker asks by its own clock. One that it gave up long ago has nothing to say.
    const isCurrent = this.#prepared?.token === token
    if (token !== undefined && isCurrent && Array.isArray(reply) && (hasJob || found !== null)) this.#taken = { token, reply, sentAt, sentDate }
    return hasJob ? [marker, '0', '0'] : found
  }

  /** What was taken for the holder of a token when the last wait ended, once. */
  taken (token: string): Taken | undefined {
    const taken = this.#taken
    if (taken?.token !== token) return undefined
    this.#taken = undefined
    return { reply: taken.reply, ageMs: Math.max(performance.now() - taken.sentAt, Date.now() - taken.sentDate) }
  }
}
