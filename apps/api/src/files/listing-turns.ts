import { HttpError } from '@toolyard/contract'
import { OwnerTurns, TurnMissedError } from '@toolyard/runtime'

/** Pieces of directories that are read at once: one takes some milliseconds of the event loop. */
const mostAtOnce = 2
const patienceMs = 10_000

/** Directories are read a piece at a time. Owners take turns, so that one who lists large directories holds up no other. */
export class ListingTurns {
  readonly #turns = new OwnerTurns(mostAtOnce)

  /** @throws the reason of the signal; HttpError `UNAVAILABLE`; what the work throws. */
  async run<T> (owner: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    try {
      return await this.#turns.run(owner, work, { ms: patienceMs, signal })
    } catch (error) {
      if (!(error instanceof TurnMissedError)) throw error
      signal.throwIfAborted()
      throw new HttpError('UNAVAILABLE', `Too many directories are listed at once: the turn of this one did not come within ${patienceMs / 1_000} s. Ask again.`)
    }
  }
}
