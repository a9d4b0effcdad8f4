import { OwnerTurns, TurnMissedError } from '@toolyard/runtime'
import { RedisUnavailableError } from '@toolyard/store'

/** Characters of jobs that count as large: a request of less is written at once. */
const largeChars = 65_536
/** Large requests that are written at once. Redis does one command at a time, and what is sent after a large one waits for it. */
const mostAtOnce = 2
/** A request waits for its turn for so long, in milliseconds: as for an answer of Redis. */
const patienceMs = 2_000

/**
 * Lets large requests be written a few at a time, so that those of one owner don't hold up the small ones of others. Owners
 * take turns.
 */
export class LargeWrites {
  readonly #turns = new OwnerTurns(mostAtOnce)

  /** @throws RedisUnavailableError when its turn didn't come in time: nothing was written. */
  async write<T> (owner: string, chars: number, write: () => Promise<T>): Promise<T> {
    if (chars < largeChars) return await write()
    try {
      return await this.#turns.run(owner, write, { ms: patienceMs })
    } catch (error) {
      throw error instanceof TurnMissedError ? new RedisUnavailableError(new Error(`large jobs wait for more than ${patienceMs} ms to be written`)) : error
    }
  }
}
