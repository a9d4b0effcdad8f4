/** Random choices that a seed repeats. */
export class Random {
  #state: number

  constructor (seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 to below 1 (mulberry32). */
  next (): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  int (least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  chance (probability: number): boolean {
    return this.next() < probability
  }

  /** @throws Error for an empty list */
  pick<T> (items: readonly T[]): T {
    const item = items[Math.floor(this.next() * items.length)]
    if (item === undefined) throw new Error('nothing to pick from')
    return item
  }

  /** Picks by weight. @throws Error for an empty list */
  weighted<T> (items: ReadonlyArray<readonly [weight: number, item: T]>): T {
    let place = this.next() * items.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, item] of items) {
      place -= weight
      if (place < 0) return item
    }
    return this.pick(items)[1]
  }

  /** A generator of its own for one actor, so that how actors interleave changes none of their choices. */
  fork (): Random {
    return new Random(Math.floor(this.next() * 2 ** 32))
  }
}
