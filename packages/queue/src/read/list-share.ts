import { TurnMissedError, type TurnPatience } from '@toolyard/runtime'
import { setTimeout as delay } from 'node:timers/promises'

/** How long an owner's lists may take before they have to wait, in milliseconds. */
const freeMs = 500
/** Owners that are remembered before those are forgotten that owe nothing. */
const mostOwners = 1_000

interface Spent {
  ms: number
  at: number
}

/**
 * Lists of an owner that take long leave Redis to calls for half of the time. They may take half a second; after that each
 * millisecond that they took is made up for by two without them. Redis does one command at a time.
 */
export class ListShare {
  readonly #spent = new Map<string, Spent>()

  /** Resolves when the owner's lists may go on. @throws TurnMissedError where that isn't in time. */
  async rest (owner: string, { ms: patienceMs, signal }: TurnPatience): Promise<void> {
    const ms = Math.max(0, 2 * (this.#owed(owner) - freeMs))
    if (ms > patienceMs || signal?.aborted === true) throw new TurnMissedError()
    if (ms === 0) return
    const isOver = await delay(ms, true, { ref: false, ...(signal === undefined ? {} : { signal }) }).catch(() => false)
    if (!isOver) throw new TurnMissedError()
  }

  note (owner: string, ms: number): void {
    const owed = this.#owed(owner) + ms
    if (this.#spent.size >= mostOwners) {
      for (const other of this.#spent.keys()) if (this.#owed(other) === 0) this.#spent.delete(other)
    }
    this.#spent.set(owner, { ms: owed, at: performance.now() })
  }

  #owed (owner: string): number {
    const { ms, at } = this.#spent.get(owner) ?? { ms: 0, at: 0 }
    return Math.max(0, ms - (performance.now() - at) / 2)
  }
}
