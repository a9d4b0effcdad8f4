import { performance } from 'node:perf_hooks'

/** All events, in order, for the lines that a doubt is explained with. */
export class History {
  readonly #startedAt = performance.now()
  readonly #lines: Array<{ at: number, text: string, jobs: readonly string[] }> = []

  /** Milliseconds since the soak began. */
  now (): number {
    return Math.round(performance.now() - this.#startedAt)
  }

  /**
   * @param text what happened
   * @param jobs ids or marks that it concerns; none means that it concerns all, as a fault does
   */
  add (text: string, ...jobs: string[]): void {
    this.#lines.push({ at: this.now(), text, jobs })
  }

  /** Everything that happened. */
  all (): string[] {
    return this.#lines.map(({ at, text, jobs }) => lineOf(at, `${text} ${jobs.join(' ')}`))
  }

  /** All that concerns one of these, with the faults within 30 s around it. */
  of (...jobs: string[]): string[] {
    const own = this.#lines.filter(line => line.jobs.some(job => jobs.includes(job)))
    const from = (own[0]?.at ?? 0) - 30_000
    const to = (own.at(-1)?.at ?? 0) + 30_000
    return this.#lines
      .filter(line => own.includes(line) || (line.jobs.length === 0 && line.at >= from && line.at <= to))
      .map(({ at, text }) => lineOf(at, text))
  }
}

function lineOf (at: number, text: string): string {
  return `${(at / 1_000).toFixed(2).padStart(8)} s  ${text}`
}
