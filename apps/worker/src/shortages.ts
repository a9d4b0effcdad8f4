import type { Logger } from '@toolyard/runtime'
import { setTimeout as delay } from 'node:timers/promises'

/** So many shortages within this time, in milliseconds, end the taking of jobs. */
const [mostMet, withinMs] = [3, 10_000]
/** Between two tries to start a process, in milliseconds: each further one later, where shortages come back. */
const tryAgainMs = { first: 1_000, most: 30_000 }

export interface ShortagesParts {
  /** Starts a process that does nothing: what the worker is out of, if that fails. */
  tryStart: () => Promise<string | undefined>
  logger: Pick<Logger, 'warn' | 'info'>
}

/**
 * What the worker is out of: room for temporary files, descriptors, processes, memory. A call that could not be started
 * is put off to another worker. A worker that meets one shortage after the other takes no jobs until it can start a process
 * again.
 *
 * States: takes jobs -> is out of something, and tries -> takes jobs.
 */
export class Shortages {
  readonly #parts: ShortagesParts
  /** When the last ones were met, by `performance.now()`. */
  #met: number[] = []
  #endedAt = -Infinity
  #waitMs = tryAgainMs.first
  #current: string | undefined
  #isStopped = false

  constructor (parts: ShortagesParts) {
    this.#parts = parts
  }

  /** What the worker is out of, so that it takes no jobs. */
  get current (): string | undefined {
    return this.#current
  }

  readiness (): { ok: boolean, detail?: string } {
    if (this.#current === undefined) return { ok: true }
    return { ok: false, detail: `no process can be started (${this.#current}); the worker takes no jobs until one can` }
  }

  /** A call could not be started. */
  met (what: string): void {
    const now = performance.now()
    this.#met = [...this.#met.filter(at => at > now - withinMs), now]
    if (this.#met.length >= mostMet && this.#current === undefined) void this.#waitForEnd(what)
  }

  stop (): void {
    this.#isStopped = true
  }

  async #waitForEnd (what: string): Promise<void> {
    this.#current = what
    this.#parts.logger.warn({ shortage: what }, 'no process can be started: the worker takes no jobs until it can')
    const isBack = performance.now() - this.#endedAt < withinMs
    this.#waitMs = isBack ? Math.min(2 * this.#waitMs, tryAgainMs.most) : tryAgainMs.first
    while (this.#current !== undefined && !this.#isStopped) {
      await delay(this.#waitMs, undefined, { ref: false })
      this.#current = await this.#parts.tryStart().catch(() => this.#current)
    }
    this.#met = []
    this.#endedAt = performance.now()
    if (!this.#isStopped) this.#parts.logger.info({ shortage: what }, 'processes can be started again: the worker takes jobs')
  }
}
