/** How often the event loop is looked at, in milliseconds. */
const sampleMs = 250
/** How long it must have been late, in milliseconds: one stall is over when it is seen. */
const lastingMs = 1_000

/**
 * Knows whether this process has more to do than it can: its event loop has come late to each of several looks in a
 * row, over a second or more. Not started, it is never overloaded.
 */
export class EventLoopWatch {
  readonly #maxDelayMs: number
  #timer: NodeJS.Timeout | undefined
  #lastSample = 0
  /** When the first look was due to which the loop came late; undefined while it is punctual. */
  #lateSince: number | undefined
  #overloaded = false

  /** @param maxDelayMs a look that comes later than this, in milliseconds, is late; 0 means that none ever is */
  constructor (maxDelayMs: number) {
    this.#maxDelayMs = maxDelayMs
  }

  get overloaded (): boolean {
    return this.#overloaded
  }

  /** Begins to look. Call it when the process has started: what it loads before holds up nobody. */
  start (): void {
    if (this.#maxDelayMs === 0) return
    this.#lastSample = performance.now()
    this.#timer = setInterval(() => { this.#look() }, sampleMs).unref()
  }

  stop (): void {
    clearInterval(this.#timer)
    this.#overloaded = false
  }

  #look (): void {
    const now = performance.now()
    const due = this.#lastSample + sampleMs
    const wasLate = this.#lateSince !== undefined
    this.#lastSample = now
    this.#lateSince = now - due > this.#maxDelayMs ? this.#lateSince ?? due : undefined
    this.#overloaded = wasLate && this.#lateSince !== undefined && now - this.#lateSince >= lastingMs
  }
}
