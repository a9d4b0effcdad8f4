import { asError } from '@toolyard/contract/terms'

/** How long the lock of a worker or canceller lasts, in milliseconds, unless it is renewed. */
export const lockMs = 3_000

/** What renews the locks of a worker's jobs. */
export interface LockHolder {
  /** Renews locks; the ids of the jobs that are somebody else's by now. */
  extendJobLocks: (ids: string[], tokens: string[], ms: number) => Promise<string[]>
  /** Gets the ids of the jobs that are somebody else's. */
  lost: (ids: string[]) => void
  failed: (error: Error) => void
}

interface LockedJob {
  token: string
  /** Whether a renewal has seen it. A lock that was taken just now is not renewed yet. */
  wasSeen: boolean
  /** Whether its worker is giving it back. */
  isLeaving: boolean
}

/**
 * Renews the locks of the jobs that a worker runs, in place of BullMQ's own renewal, which compares clocks. Here only
 * intervals count: docs/decisions/0028-one-clock.md.
 */
export class LockRenewal {
  readonly #holder: LockHolder
  readonly #lockMs: number
  readonly #everyMs: number
  readonly #held = new Map<string, LockedJob>()
  #timer: NodeJS.Timeout | undefined
  #closed = false

  /** @param everyMs a lock is renewed after half of this time at the earliest, and after all of it at the latest. */
  constructor (holder: LockHolder, lockMs: number, everyMs: number) {
    this.#holder = holder
    this.#lockMs = lockMs
    this.#everyMs = everyMs
  }

  start (): void {
    if (!this.#closed) this.#timer = setTimeout(() => { void this.#renew() }, this.#everyMs / 2)
  }

  async close (): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#held.clear()
  }

  trackJob (id: string, token: string): undefined {
    if (!this.#closed) this.#held.set(id, { token, wasSeen: false, isLeaving: false })
  }

  untrackJob (id: string): void {
    this.#held.delete(id)
  }

  /** Renews the lock of a job until it has been given back; that it is gone then is no loss. */
  leaveJob (id: string): void {
    const held = this.#held.get(id)
    if (held !== undefined) held.isLeaving = true
  }

  async #renew (): Promise<void> {
    const due: Array<[id: string, token: string]> = []
    for (const [id, held] of this.#held) {
      if (held.wasSeen) due.push([id, held.token])
      held.wasSeen = true
    }
    try {
      const lost = due.length === 0
        ? []
        : await this.#holder.extendJobLocks(due.map(([id]) => id), due.map(([, token]) => token), this.#lockMs)
      // A job that was settled or given back meanwhile has no lock to lose.
      const missed = lost.filter(id => this.#held.get(id)?.isLeaving === false)
      if (missed.length > 0) this.#holder.lost(missed)
      for (const id of missed) {
        // It doesn't come back.
        this.#held.delete(id)
        this.#holder.failed(new Error(`could not renew lock for job ${id}`))
      }
    } catch (error) {
      // A worker that has stopped has closed its connection.
      if (!this.#closed) this.#holder.failed(asError(error))
    }
    this.start()
  }
}
