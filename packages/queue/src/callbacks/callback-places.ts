/*
 * Places of the callbacks that a process sends at once. A receiver that hangs keeps its place for as long as an attempt may take, so
 * one owner of many such receivers could hold all of them.
 */

/** Callbacks that one process sends at once: they wait more than they work. */
export const places = 64
/** An owner with more of them is the one who gives a place up when none is left. */
const fairShare = places / 4
/** How long an attempt has had its place before it is given up, in milliseconds. */
const crowdedMs = 2_000

export const gaveWay = `no answer within ${crowdedMs} ms while all places were taken`

interface CallbackPlace {
  /** Aborted when it is given up. */
  signal: AbortSignal
  release (): void
}

interface Taken {
  owner: string
  takenAt: number
  givenUp: AbortController
}

export class CallbackPlaces {
  /** Those that were taken first come first. */
  readonly #taken = new Set<Taken>()

  /** @param owner whose callback it is */
  take (owner: string): CallbackPlace {
    const place: Taken = { owner, takenAt: performance.now(), givenUp: new AbortController() }
    this.#taken.add(place)
    if (this.#taken.size >= places) this.#makeRoom()
    return { signal: place.givenUp.signal, release: () => { this.#taken.delete(place) } }
  }

  /** Who has the most gives up what is oldest; whoever comes next makes room for one more. */
  #makeRoom (): void {
    const owned = new Map<string, number>()
    for (const { owner } of this.#taken) owned.set(owner, (owned.get(owner) ?? 0) + 1)
    const [owner, count] = [...owned].reduce((most, each) => each[1] > most[1] ? each : most)
    const oldest = [...this.#taken].find(place => place.owner === owner)
    if (count <= fairShare || oldest === undefined) return
    setTimeout(() => {
      if (this.#taken.size >= places) oldest.givenUp.abort()
    }, Math.max(0, oldest.takenAt + crowdedMs - performance.now())).unref()
  }
}
