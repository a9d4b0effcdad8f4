/** Milliseconds of work after which others have a turn of the event loop. */
const shareMs = 5
/** Values that are gone through between two looks at the clock. */
const valuesAtOnce = 64

export class TooManyValues extends Error {
  override readonly name = 'TooManyValues'
}

/**
 * Shares the event loop while something is gone through that a caller, a tool or a server made. All values count, also
 * those that are only passed over: `if (turns.isOver(count)) await turns.next()`. An await for each value would take longer
 * than most values do.
 */
export class Turns {
  #left: number
  #unlooked = 0
  #begun = performance.now()

  /** @param most values that are gone through at all. */
  constructor (most = Infinity) {
    this.#left = most
  }

  /** Counts values; says whether others should have a turn now. @throws TooManyValues */
  isOver (count = 1): boolean {
    this.#left -= count
    if (this.#left < 0) throw new TooManyValues()
    this.#unlooked += count
    if (this.#unlooked < valuesAtOnce) return false
    this.#unlooked = 0
    return performance.now() - this.#begun > shareMs
  }

  async next (): Promise<void> {
    await nextTurn()
    this.#begun = performance.now()
  }
}

/** In the order in which they began to wait. */
const waiting: Array<() => void> = []

/**
 * Resolves in one of the next turns of the event loop. One of all who wait here goes on in each, so that many hold up others no
 * longer than one does. It is for who has taken long: others would wait behind those.
 */
export async function nextTurn (): Promise<void> {
  await new Promise<void>(resolve => {
    if (waiting.push(resolve) === 1) setImmediate(goOn)
  })
}

function goOn (): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(goOn)
}
