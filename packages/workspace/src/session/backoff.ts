const first = 1_000
const most = 600_000
/** An entry that isn't tried for so long when it might be is gone: another process has done it. */
const forgottenAfter = 60_000

/** When to try again what didn't work: each time after twice as long, up to ten minutes. */
export class Backoff {
  readonly #waiting = new Map<string, { failures: number, until: number }>()

  isWaiting (what: string): boolean {
    return performance.now() < (this.#waiting.get(what)?.until ?? 0)
  }

  /** How often it didn't work in a row. */
  failed (what: string): number {
    const failures = (this.#waiting.get(what)?.failures ?? 0) + 1
    this.#waiting.set(what, { failures, until: performance.now() + Math.min(most, first * 2 ** (failures - 1)) })
    return failures
  }

  forget (what: string): void {
    this.#waiting.delete(what)
  }

  /** How many it doesn't work with. */
  get size (): number {
    const now = performance.now()
    for (const [what, { until }] of this.#waiting) if (until + forgottenAfter < now) this.forget(what)
    return this.#waiting.size
  }
}
