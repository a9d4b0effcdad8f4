import { setImmediate as turn } from 'node:timers/promises'
import { OwnerTurns } from './owner-turns.ts'

/** Only the signal ends the wait for a turn. */
const longestWaitMs = 2 ** 31 - 1

/** Does short pieces of work, as much in each turn of the event loop as it bears, however many ask at once. Owners take turns. */
export class LoopTurns {
  readonly #turns = new OwnerTurns(1)
  /** Of this turn: 1 is all of it. */
  #taken = 0

  /**
   * @param part of a turn that the work takes
   * @throws TurnMissedError when the signal aborts first; what the work throws.
   */
  async run<T> (owner: string, part: number, work: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
    return await this.#turns.run(owner, async () => {
      if (this.#taken + part > 1) {
        await turn()
        this.#taken = 0
      }
      this.#taken += part
      return await work()
    }, { ms: longestWaitMs, ...signal !== undefined && { signal } })
  }
}
