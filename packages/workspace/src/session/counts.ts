import { surveySession } from './survey.ts'

/** What of a session is counted. */
export interface CountedSession {
  id: string
  dir: string
  quotaBytes: number
}

/** So many entries are counted whenever it is asked. To count more takes a tenth of the time: it rests for so many times as long. */
const fewEntries = 100
const countRest = 9
const mostCounts = 10_000

/** What was counted of a session. */
export interface KnownCount {
  bytes: number
  /** By `performance.now()`; until then it isn't to be counted anew. */
  until: number
  /** It has more than a few entries. */
  isLarge: boolean
}

/** What a process has counted, by the session. */
export class KnownCounts {
  readonly #counts = new Map<string, KnownCount>()

  get (id: string): KnownCount | undefined {
    return this.#counts.get(id)
  }

  /** @param begun when the count began, by `performance.now()` */
  set (id: string, { bytes, entries }: { bytes: number, entries: number }, begun: number): void {
    const now = performance.now()
    const isLarge = entries > fewEntries
    if (this.#counts.size >= mostCounts) this.#counts.clear()
    this.#counts.set(id, { bytes, isLarge, until: isLarge ? now + countRest * (now - begun) : now })
  }

  delete (id: string): void {
    this.#counts.delete(id)
  }
}

interface Running { bytes: Promise<number>, noted: number }

/** What the files of sessions take, as this process has counted them. */
export class SessionCounts {
  readonly #counts = new KnownCounts()
  readonly #running = new Map<string, Running>()

  /**
   * The bytes that a session's files take. They are counted anew unless that was done a short time ago; what is over the quota
   * is always counted anew.
   *
   * @param isEnough tells whether what was known before will do, although it is old
   */
  async bytesOf (session: CountedSession, isEnough: (bytes: number) => boolean = () => false): Promise<{ bytes: number, isNew: boolean }> {
    const known = this.#counts.get(session.id)
    const isFresh = known !== undefined && known.bytes <= session.quotaBytes && (performance.now() < known.until || isEnough(known.bytes))
    return isFresh ? { bytes: known.bytes, isNew: false } : { bytes: await this.count(session), isNew: true }
  }

  /** Counts them anew; what is noted meanwhile is added to what was found. */
  async count (session: CountedSession): Promise<number> {
    const running = this.#running.get(session.id)
    if (running !== undefined) return await running.bytes
    const run: Running = { noted: 0, bytes: this.#count(session) }
    this.#running.set(session.id, run)
    return await run.bytes
  }

  async #count ({ id, dir, quotaBytes }: CountedSession): Promise<number> {
    try {
      const begun = performance.now()
      const { bytes: found, entries } = await surveySession(dir, { mostBytes: 2 * quotaBytes, since: undefined })
      const bytes = found + (this.#running.get(id)?.noted ?? 0)
      this.#counts.set(id, { bytes, entries }, begun)
      return bytes
    } finally {
      this.#running.delete(id)
    }
  }

  /** Notes bytes that come or go before the next count, and tells what there is then. */
  add (id: string, bytes: number): number {
    const running = this.#running.get(id)
    if (running !== undefined) running.noted += Math.max(0, bytes)
    const known = this.#counts.get(id)
    if (known === undefined) return 0
    known.bytes = Math.max(0, known.bytes + bytes)
    return known.bytes
  }

  /** Something unknown went away. */
  outdate (id: string): void {
    const known = this.#counts.get(id)
    if (known !== undefined) known.until = 0
  }

  forget (id: string): void {
    this.#counts.delete(id)
  }
}
