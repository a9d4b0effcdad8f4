import { HttpError } from '@toolyard/contract'
import { OwnerTurns, TurnMissedError } from '@toolyard/runtime'

interface FileTurnsOptions {
  /** Pieces of work at once. */
  most: number
  /** How long the turn of a piece may take to come, in milliseconds. */
  patienceMs: number
  /** The beginning of a sentence about who comes too late. */
  crowd: string
}

/** A piece of a directory takes some milliseconds of the event loop. */
export const listingTurns: FileTurnsOptions = { most: 2, patienceMs: 10_000, crowd: 'Too many directories are listed at once' }
/** A sync takes one of the four threads that Node.js has for files, for as long as the disk likes: one is left to all else. */
export const syncTurns: FileTurnsOptions = { most: 3, patienceMs: 60_000, crowd: 'Too many files are written at once' }
/** Of one owner: an archive has two descriptors open for each of up to 64 levels, until its client has read it. */
export const archiveTurns: FileTurnsOptions = { most: 16, patienceMs: 60_000, crowd: 'Too many archives are read at once' }

/** Work with files is done a piece at a time. Owners take turns, so that one with much of it holds up no other. */
export class FileTurns {
  readonly #options: FileTurnsOptions
  readonly #turns: OwnerTurns

  constructor (options: FileTurnsOptions) {
    this.#options = options
    this.#turns = new OwnerTurns(options.most)
  }

  /** @throws the reason of the signal; HttpError `UNAVAILABLE`; what the work throws. */
  async run<T> (owner: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const { patienceMs, crowd } = this.#options
    signal.throwIfAborted()
    try {
      return await this.#turns.run(owner, work, { ms: patienceMs, signal })
    } catch (error) {
      if (!(error instanceof TurnMissedError)) throw error
      signal.throwIfAborted()
      throw new HttpError('UNAVAILABLE', `${crowd}: the turn of this one did not come within ${patienceMs / 1_000} s. Ask again.`)
    }
  }
}

/** The same for each owner by itself, who waits for nobody else. */
export class TurnsOfEach {
  readonly #options: FileTurnsOptions
  readonly #owners = new Map<string, { turns: FileTurns, users: number }>()

  constructor (options: FileTurnsOptions) {
    this.#options = options
  }

  /** @throws as `FileTurns` */
  async run<T> (owner: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const own = this.#owners.get(owner) ?? { turns: new FileTurns(this.#options), users: 0 }
    this.#owners.set(owner, own)
    own.users += 1
    try {
      return await own.turns.run(owner, signal, work)
    } finally {
      own.users -= 1
      if (own.users === 0) this.#owners.delete(owner)
    }
  }
}
