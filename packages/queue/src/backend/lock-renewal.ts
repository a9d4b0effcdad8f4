import { asError } from '@toolyard/contract/terms'
import { fromRedis, type Redis } from '@toolyard/store'

/** How long the lock of a worker or canceller lasts, in milliseconds, unless it is renewed. */
export const lockMs = 4_000

/** So long before its lock ends a run is ended, in milliseconds: its processes get 250 ms, and are gone when another worker begins. */
const endMs = 400

/**
 * Renews the locks of jobs. Nothing in it takes memory: a Redis that is full allows it. KEYS: stalled. ARGV: stem of the
 * jobs' keys, milliseconds, then ids and tokens in turn. Answers the ids of the jobs that are somebody else's by now.
 */
const renewScript = `
local lost = {}
for place = 3, #ARGV, 2 do
  local lock = ARGV[1] .. ARGV[place] .. ':lock'
  if redis.call('GET', lock) == ARGV[place + 1] then
    redis.call('PEXPIRE', lock, ARGV[2])
    redis.call('SREM', KEYS[1], ARGV[place])
  else
    table.insert(lost, ARGV[place])
  end
end
return lost
`

interface LockRenewalOptions {
  lockMs: number
  /** A lock is renewed after half of this time at the earliest, and after all of it at the latest. */
  everyMs: number
  /** Gets the ids of the jobs that are somebody else's, or may soon be. */
  onLost: (ids: string[]) => void
  onError: (error: Error) => void
}

interface LockedJob {
  token: string
  /** Until when the lock lasts at least, by `performance.now()`. Infinity for a job whose run is over. */
  until: number
  /** Whether a renewal has seen it. A lock that was taken just now is not renewed yet. */
  wasSeen: boolean
  /** Whether its worker is settling it, or giving it back. */
  isLeaving: boolean
}

/**
 * Renews the locks of the jobs that a worker runs, in place of BullMQ's own renewal, which compares clocks. Here only
 * intervals count: docs/decisions/0028-one-clock.md.
 *
 * A lock lasts from when Redis got the command that took or renewed it. The worker counts from before it sent that
 * command, so it knows of the end first: also where nothing reaches Redis, or its answers don't come. Then it ends the run.
 */
export class LockRenewal {
  readonly #queue: { redis: Redis, toKey: (part: string) => string }
  readonly #options: LockRenewalOptions
  readonly #held = new Map<string, LockedJob>()
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor (queue: { redis: Redis, toKey: (part: string) => string }, options: LockRenewalOptions) {
    this.#queue = queue
    this.#options = options
  }

  start (): void {
    if (this.#closed) return
    const firstEnd = Math.min(...[...this.#held.values()].map(({ until }) => until)) - endMs - performance.now()
    this.#timer = setTimeout(() => {
      // An answer that doesn't come holds up no other renewal.
      void this.#renew()
      this.start()
    }, Math.min(this.#options.everyMs / 2, Math.max(0, firstEnd)))
  }

  close (): void {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#held.clear()
  }

  /**
   * Tracks a job that is run.
   *
   * @param since before the command was sent that took its lock
   */
  trackRun (id: string, token: string, since: number): void {
    this.#track(id, token, since + this.#options.lockMs)
  }

  /** Whether the lock of a job is renewed still. */
  isTracked (id: string): boolean {
    return this.#held.has(id)
  }

  /** One that was given back may have been taken again meanwhile. */
  untrackJob (id: string, token: string): void {
    if (this.#held.get(id)?.token === token) this.#held.delete(id)
  }

  /** Renews the lock of a job until it has been settled or given back; that it is gone then is no loss. */
  leaveJob (id: string): void {
    const held = this.#held.get(id)
    if (held !== undefined) Object.assign(held, { isLeaving: true, until: Infinity })
  }

  /** Whether the lock of a job that was taken long ago is there still; then its time is counted anew. */
  async isHeld (id: string, token: string): Promise<boolean> {
    const since = performance.now()
    if ((await this.#extend([[id, { token }]])).length > 0) return false
    this.trackRun(id, token, since)
    return true
  }

  #track (id: string, token: string, until: number): void {
    if (!this.#closed) this.#held.set(id, { token, until, wasSeen: false, isLeaving: false })
  }

  async #renew (): Promise<void> {
    const sentAt = performance.now()
    this.#endOverdue(sentAt)
    const due: Array<[id: string, held: LockedJob]> = []
    for (const [id, held] of this.#held) {
      if (held.wasSeen) due.push([id, held])
      held.wasSeen = true
    }
    if (due.length === 0) return
    try {
      const lost = new Set(await this.#extend(due))
      for (const [id, held] of due) if (!lost.has(id)) held.until = Math.max(held.until, sentAt + this.#options.lockMs)
      // A job that was settled or given back meanwhile has no lock to lose.
      this.#lose(due.filter(([id, held]) => lost.has(id) && this.#held.get(id) === held && !held.isLeaving).map(([id]) => id), 'could not renew lock for')
    } catch (error) {
      // A worker that has stopped has closed its connection.
      if (!this.#closed) this.#options.onError(asError(error))
    }
  }

  async #extend (jobs: ReadonlyArray<[id: string, { token: string }]>): Promise<string[]> {
    const queue = this.#queue
    const held = jobs.flatMap(([id, { token }]) => [id, token])
    return fromRedis(await queue.redis.eval(renewScript, 1, queue.toKey('stalled'), queue.toKey(''), this.#options.lockMs, ...held))
  }

  #endOverdue (now: number): void {
    const over = [...this.#held].filter(([, { until }]) => until - endMs <= now).map(([id]) => id)
    this.#lose(over, 'Redis did not answer in time, and may have ended the lock of')
  }

  #lose (ids: readonly string[], why: string): void {
    if (ids.length > 0) this.#options.onLost([...ids])
    for (const id of ids) {
      // It doesn't come back.
      this.#held.delete(id)
      this.#options.onError(new Error(`${why} job ${id}`))
    }
  }
}
