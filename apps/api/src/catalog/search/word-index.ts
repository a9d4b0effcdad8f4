/**
 * How much a word that stands often in a text counts, and how much a long text counts less, in BM25. What they were chosen
 * by is in test/bench/quality.
 */
const saturation = 3
const lengthShare = 0.9
/** Words that begin with a searched one, or are one letter away, count less. */
const prefixShare = 0.35
const typoShare = 0.25
/** How much a text is before others that has more of the searched words. */
const coverageShare = 0.8
const leastPrefix = 4
const leastTypo = 5
/** Words of an index that one searched word may stand for. */
const mostKin = 40

/** Where a word stands, and what it adds to the rank of each place. */
interface Postings {
  ids: Uint32Array
  impacts: Float32Array
}

/** A text by its words, each with what its field weighs. */
export type WeighedWords = ReadonlyMap<string, number>

/** Finds texts by words, ranked by BM25. All that can be is worked out when the index is made: a search only adds numbers. */
export class WordIndex {
  readonly #size: number
  readonly #postings: ReadonlyMap<string, Postings>
  /** In order, for words that begin alike. */
  readonly #words: readonly string[]

  private constructor (size: number, postings: ReadonlyMap<string, Postings>) {
    this.#size = size
    this.#postings = postings
    this.#words = [...postings.keys()].sort()
  }

  /** The index of some texts; `pause` is awaited again and again. */
  static async of (texts: readonly WeighedWords[], pause: () => Promise<void>): Promise<WordIndex> {
    return new WordIndex(texts.length, await postingsOf(texts, pause))
  }

  has (word: string): boolean {
    return this.#postings.has(word)
  }

  /**
   * The places of the best texts that `isMeant` takes, best first. A text that has more of the searched words is before one
   * that has one of them often.
   *
   * @param words each with the concepts that it stands for
   */
  search (words: ReadonlyMap<string, readonly string[]>, limit: number, isMeant: (id: number) => boolean): number[] {
    if (words.size === 0) return []
    const ranks = new Float32Array(this.#size)
    const covered = new Uint8Array(this.#size)
    const own = new Float32Array(this.#size)
    for (const [word, concepts] of words) {
      const touched: number[] = []
      const note = (term: string, share: number): void => { collect(own, touched, this.#postings.get(term), share) }
      note(word, 1)
      for (const concept of concepts) note(concept, 1)
      for (const kin of this.#prefixed(word)) note(kin, prefixShare)
      if (!this.#postings.has(word)) for (const kin of this.#near(word)) note(kin, typoShare)
      for (const id of touched) {
        ranks[id] = (ranks[id] ?? 0) + (own[id] ?? 0)
        covered[id] = (covered[id] ?? 0) + 1
        own[id] = 0
      }
    }
    const shares = Float32Array.from({ length: words.size + 1 }, (_, count) => (count / words.size) ** coverageShare)
    for (let id = 0; id < ranks.length; id++) ranks[id] = (ranks[id] ?? 0) * (shares[covered[id] ?? 0] ?? 0)
    return best(ranks, limit, isMeant)
  }

  #prefixed (word: string): string[] {
    if (word.length < leastPrefix) return []
    const from = this.#firstFrom(word)
    const found = this.#words.slice(from, from + mostKin).filter(kin => kin !== word)
    const end = found.findIndex(kin => !kin.startsWith(word))
    return end === -1 ? found : found.slice(0, end)
  }

  /** Words with another letter, one more or one less; nobody errs in the first. */
  #near (word: string): string[] {
    if (word.length < leastTypo) return []
    const first = word.slice(0, 1)
    const found: string[] = []
    for (let at = this.#firstFrom(first); at < this.#words.length && found.length < mostKin; at++) {
      const kin = this.#words[at] ?? ''
      if (!kin.startsWith(first)) break
      if (Math.abs(kin.length - word.length) < 2 && differsInOne(kin, word)) found.push(kin)
    }
    return found
  }

  #firstFrom (word: string): number {
    let [low, high] = [0, this.#words.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#words[middle] ?? '') < word) low = middle + 1
      else high = middle
    }
    return low
  }
}

async function postingsOf (texts: readonly WeighedWords[], pause: () => Promise<void>): Promise<Map<string, Postings>> {
  const lengths = texts.map(words => [...words.values()].reduce((sum, weight) => sum + weight, 0))
  const usual = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, texts.length)
  const places = new Map<string, number[]>()
  for (const [id, words] of texts.entries()) {
    await pause()
    for (const word of words.keys()) {
      const known = places.get(word)
      if (known === undefined) places.set(word, [id])
      else known.push(id)
    }
  }
  const postings = new Map<string, Postings>()
  for (const [word, ids] of places) {
    await pause()
    const rarity = Math.log(1 + (texts.length - ids.length + 0.5) / (ids.length + 0.5))
    const impacts = ids.map(id => {
      const weight = texts[id]?.get(word) ?? 0
      const norm = 1 - lengthShare + lengthShare * (lengths[id] ?? 0) / usual
      return rarity * weight * (saturation + 1) / (weight + saturation * norm)
    })
    postings.set(word, { ids: Uint32Array.from(ids), impacts: Float32Array.from(impacts) })
  }
  return postings
}

/** A term adds to each place where it counts most of the terms of its word. */
function collect (own: Float32Array, touched: number[], postings: Postings | undefined, share: number): void {
  if (postings === undefined) return
  const { ids, impacts } = postings
  for (let at = 0; at < ids.length; at++) {
    const id = ids[at] ?? 0
    const before = own[id] ?? 0
    if (before === 0) touched.push(id)
    own[id] = Math.max(before, share * (impacts[at] ?? 0))
  }
}

function best (ranks: Float32Array, limit: number, isMeant: (id: number) => boolean): number[] {
  const found: number[] = []
  for (let id = 0; id < ranks.length; id++) {
    const rank = ranks[id] ?? 0
    const last = found.length < limit ? 0 : ranks[found[limit - 1] ?? 0] ?? 0
    if (rank <= last || !isMeant(id)) continue
    let at = Math.min(found.length, limit - 1)
    while (at > 0 && (ranks[found[at - 1] ?? 0] ?? 0) < rank) at--
    found.splice(at, 0, id)
    if (found.length > limit) found.pop()
  }
  return found
}

function differsInOne (one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one]
  let at = 0
  while (at < short.length && short[at] === long[at]) at++
  return short.length === long.length ? short.slice(at + 1) === long.slice(at + 1) : short.slice(at) === long.slice(at + 1)
}
