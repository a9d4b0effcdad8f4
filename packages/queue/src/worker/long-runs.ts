/** Watchers of a job get a message after so many milliseconds of its run, if it still runs. */
const longMs = 5

/** Finds the runs that take longer than most, which end before anybody could have seen that they began. */
export class LongRuns {
  readonly #begun = new Set<string>()
  readonly #onLong: (id: string) => void
  #timer: NodeJS.Timeout | undefined

  constructor (onLong: (id: string) => void) {
    this.#onLong = onLong
  }

  begin (id: string): void {
    this.#begun.add(id)
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      for (const begun of this.#begun) this.#onLong(begun)
      this.#begun.clear()
    }, longMs)
  }

  /** A run is over, whatever becomes of its job. */
  over (id: string): void {
    this.#begun.delete(id)
  }
}
