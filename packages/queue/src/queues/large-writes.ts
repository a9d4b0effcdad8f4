import { RedisUnavailableError } from '@toolyard/store'

/** Characters of jobs that count as large: a request of less is written at once. */
const largeChars = 65_536
/** Large requests that are written at once. Redis does one command at a time, and what is sent after a large one waits for it. */
const mostAtOnce = 2
/** A request waits for its turn for so long, in milliseconds: as for an answer of Redis. */
const patienceMs = 2_000

interface Waiting {
  begin: () => void
}

/**
 * Lets large requests be written a few at a time, so that those of one owner don't hold up the small ones of others. Owners
 * take turns.
 */
export class LargeWrites {
  #underWay = 0
  /** Who waits, by owner; the owner that is next stands first. */
  readonly #lines = new Map<string, Waiting[]>()

  /** @throws RedisUnavailableError when its turn didn't come in time: nothing was written. */
  async write<T> (owner: string, chars: number, write: () => Promise<T>): Promise<T> {
    if (chars < largeChars) return await write()
    if (this.#underWay < mostAtOnce) this.#underWay += 1
    else await this.#turn(owner)
    try {
      return await write()
    } finally {
      if (!this.#beginNext()) this.#underWay -= 1
    }
  }

  async #turn (owner: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const line = this.#lines.get(owner) ?? []
      this.#lines.set(owner, line)
      const waiting = {
        begin: () => {
          clearTimeout(timer)
          resolve()
        }
      }
      const timer = setTimeout(() => {
        this.#leave(owner, waiting)
        reject(new RedisUnavailableError(new Error(`large jobs wait for more than ${patienceMs} ms to be written`)))
      }, patienceMs)
      line.push(waiting)
    })
  }

  #leave (owner: string, waiting: Waiting): void {
    const line = (this.#lines.get(owner) ?? []).filter(other => other !== waiting)
    if (line.length > 0) this.#lines.set(owner, line)
    else this.#lines.delete(owner)
  }

  /** Gives a place that is free to the owner that is next, who then goes to the end. */
  #beginNext (): boolean {
    const [owner, line] = this.#lines.entries().next().value ?? []
    const waiting = line?.shift()
    if (owner === undefined || line === undefined || waiting === undefined) return false
    this.#lines.delete(owner)
    if (line.length > 0) this.#lines.set(owner, line)
    waiting.begin()
    return true
  }
}
