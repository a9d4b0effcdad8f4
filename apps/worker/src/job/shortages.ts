import type { Logger } from '@toolyard/runtime'
import { setTimeout as delay } from 'node:timers/promises'

/** So many shortages within this time, in milliseconds, end the taking of jobs. */
const [mostMet, withinMs] = [3, 10_000]
/** A call that met so many of them, while the worker can start processes, wants more than there is here. */
export const mostOfCall = 40
/** Calls that are remembered; the oldest are forgotten first. */
const remembered = 1_000
/** Between two tries to start a process, in milliseconds: each further one later, where shortages come back. */
const tryAgainMs = { first: 1_000, most: 30_000 }

interface ShortagesParts {
  /** Starts a process that does nothing: what the worker is out of, if that fails. */
  tryStart: () => Promise<string | undefined>
  logger: Pick<Logger, 'warn' | 'info'>
}

/**
 * A worker's shortage: of room for temporary files, descriptors, processes, memory. A call that could not be started
 * is put off to another worker. A worker that meets one shortage after the other, and can't start a process by itself, takes
 * no jobs until it can.
 *
 * States: takes jobs -> tries to start a process -> takes jobs, or is out of something, and tries -> takes jobs.
 */
export class Shortages {
  readonly #parts: ShortagesParts
  /** When the last ones were met, by `performance.now()`. */
  #met: number[] = []
  /** How many each call met, by the id of its job. */
  readonly #ofCalls = new Map<string, number>()
  #isTrying = false
  #endedAt = -Infinity
  #waitMs = tryAgainMs.first
  #current: string | undefined
  #isStopped = false

  constructor (parts: ShortagesParts) {
    this.#parts = parts
  }

  /** The shortage for which it takes no jobs. */
  get current (): string | undefined {
    return this.#current
  }

  readiness (): { ok: boolean, detail?: string } {
    if (this.#current === undefined) return { ok: true }
    return { ok: false, detail: `no process can be started (${this.#current}); the worker takes no jobs until one can` }
  }

  /** A call could not be started. False when it was tried so often that it never will be here. */
  met (what: string, jobId: string): boolean {
    const now = performance.now()
    this.#met = [...this.#met.filter(at => at > now - withinMs), now]
    if (this.#met.length >= mostMet && !this.#isTrying) {
      this.#isTrying = true
      void this.#examine(what).finally(() => { this.#isTrying = false })
    }
    const times = (this.#ofCalls.get(jobId) ?? 0) + 1
    this.#ofCalls.delete(jobId)
    if (times >= mostOfCall) return false
    this.#ofCalls.set(jobId, times)
    const [oldest = ''] = this.#ofCalls.keys()
    if (this.#ofCalls.size > remembered) this.#ofCalls.delete(oldest)
    return true
  }

  stop (): void {
    this.#isStopped = true
  }

  /** One call may want more room than there is, where the next one doesn't: the worker goes on then. */
  async #examine (what: string): Promise<void> {
    const found = await this.#parts.tryStart().catch(() => what)
    this.#met = []
    if (found !== undefined && !this.#isStopped) await this.#waitForEnd(what)
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
