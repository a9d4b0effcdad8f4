import { onAbort } from '../abort/on-abort.ts'

interface Waiting {
  size: number
  begin: () => void
}

export interface TurnPatience {
  ms: number
  signal?: AbortSignal
  /** How much the work is, of what may be under way at once; default 1. */
  size?: number
}

/** The turn of a piece of work didn't come in time: nothing of it was done. */
export class TurnMissedError extends Error {
  override readonly name = 'TurnMissedError'
}

/** Lets work be done a little at a time. Owners take turns, so that one with much of it holds up no other. */
export class OwnerTurns {
  readonly #most: number
  readonly #mostOfOwner: number
  #underWay = 0
  /** The same by owner. */
  readonly #ofOwners = new Map<string, number>()
  /** Who waits, by owner; the owner that is next stands first. */
  readonly #lines = new Map<string, Line>()

  /**
   * @param most pieces of work at once, or the sum of their sizes; a larger piece is alone.
   * @param mostOfOwner the same of one owner. Where a piece takes seconds, one owner could have all places for so long.
   */
  constructor (most: number, mostOfOwner = most) {
    this.#most = most
    this.#mostOfOwner = mostOfOwner
  }

  /** Whether work of this size would begin at once. */
  hasRoom (size = 1): boolean {
    return this.#lines.size === 0 && this.#fits(size)
  }

  /** @throws TurnMissedError; what the work throws. */
  async run<T> (owner: string, work: () => Promise<T>, patience: TurnPatience): Promise<T> {
    const { size = 1 } = patience
    if (this.hasRoom(size) && this.#mayHave(owner, size)) this.#count(owner, size)
    else await this.#turn(owner, size, patience)
    try {
      return await work()
    } finally {
      this.#count(owner, -size)
      this.#beginNext()
    }
  }

  #fits (size: number): boolean {
    return this.#underWay === 0 || this.#underWay + size <= this.#most
  }

  #mayHave (owner: string, size: number): boolean {
    const own = this.#ofOwners.get(owner) ?? 0
    return own === 0 || own + size <= this.#mostOfOwner
  }

  #count (owner: string, size: number): void {
    const own = (this.#ofOwners.get(owner) ?? 0) + size
    this.#underWay += size
    if (own === 0) this.#ofOwners.delete(owner)
    else this.#ofOwners.set(owner, own)
  }

  async #turn (owner: string, size: number, { ms, signal }: TurnPatience): Promise<void> {
    if (signal?.aborted === true) throw new TurnMissedError()
    await new Promise<void>((resolve, reject) => {
      const line = this.#lines.get(owner) ?? new Line()
      this.#lines.set(owner, line)
      const waiting = {
        size,
        begin: () => {
          stop()
          resolve()
        }
      }
      const miss = (): void => {
        stop()
        line.delete(waiting)
        if (line.size === 0 && this.#lines.get(owner) === line) this.#lines.delete(owner)
        reject(new TurnMissedError())
        // Others may have waited behind a larger one.
        this.#beginNext()
      }
      const timer = setTimeout(miss, ms)
      const off = onAbort([signal], miss)
      const stop = (): void => {
        clearTimeout(timer)
        off()
      }
      line.add(waiting)
      // Who waits may have as much as one owner may, and there may be room for others.
      this.#beginNext()
    })
  }

  /** Gives the places that are free to the owners that are next, each of whom then goes to the end. */
  #beginNext (): void {
    for (const [owner, line] of this.#lines) {
      const waiting = line.first()
      if (waiting === undefined || !this.#fits(waiting.size)) return
      if (!this.#mayHave(owner, waiting.size)) continue
      this.#count(owner, waiting.size)
      line.delete(waiting)
      this.#lines.delete(owner)
      if (line.size > 0) this.#lines.set(owner, line)
      waiting.begin()
    }
  }
}

/** The work of one owner that waits. */
class Line extends Set<Waiting> {
  readonly #rest = this.values()
  #first: Waiting | undefined

  /** A Set that is asked for its first walks past all that were deleted from it, each time. */
  first (): Waiting | undefined {
    while (this.#first === undefined || !this.has(this.#first)) {
      const { done, value } = this.#rest.next()
      if (done === true) return undefined
      this.#first = value
    }
    return this.#first
  }
}
