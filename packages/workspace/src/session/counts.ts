import { surveySession, type Survey, type SurveyOptions } from './survey.ts'

export interface CountedSession {
  id: string
  /** Whose it is. */
  tenant: string | undefined
  dir: string
  quotaBytes: number
}

/** So many entries are counted whenever it is asked. To count more takes a tenth of the time: it rests for so many times as long. */
const fewEntries = 100
const countRest = 9
const mostCounts = 10_000

interface KnownCount {
  bytes: number
  /** By `performance.now()`; until then it isn't to be counted anew. */
  until: number
  /** It has more than a few entries. */
  isLarge: boolean
}

/** A walk may see a file that is renamed meanwhile under neither of its names. It is done again then, so many times. */
const moreWalks = 2

interface Running {
  bytes: Promise<number>
  noted: number
  /** Of files that took their places meanwhile. */
  moved: number
}

/** Bytes by session. They count until the function that `begin` gives is called. */
class BytesUnderWay {
  readonly #bytes = new Map<string, number>()

  sum (id: string): number {
    return this.#bytes.get(id) ?? 0
  }

  begin (id: string, bytes: number): () => void {
    const set = (now: number): void => {
      if (now === 0) this.#bytes.delete(id)
      else this.#bytes.set(id, now)
    }
    set(this.sum(id) + bytes)
    let left = bytes
    return () => {
      set(this.sum(id) - left)
      left = 0
    }
  }
}

/** Sizes of sessions, as this process has counted them. */
export class SessionCounts {
  readonly #known = new Map<string, KnownCount>()
  readonly #running = new Map<string, Running>()
  /** Files that take their places now. */
  readonly #moving = new BytesUnderWay()
  /** What was noted, and may not be on the disk yet. */
  readonly #writing = new BytesUnderWay()

  /**
   * The bytes that a session's files take; undefined where they are to be counted anew: unless that was done a short time ago,
   * and always when they were over the quota.
   *
   * @param isEnough tells whether what was known before will do, although it is old
   */
  freshBytes ({ id, quotaBytes }: Pick<CountedSession, 'id' | 'quotaBytes'>, isEnough: (bytes: number) => boolean = () => false): number | undefined {
    const known = this.#known.get(id)
    if (known === undefined || known.bytes > quotaBytes) return undefined
    return performance.now() < known.until || isEnough(known.bytes) ? known.bytes : undefined
  }

  /** Counts them anew; callers that ask meanwhile get the same count. */
  async count (session: CountedSession): Promise<number> {
    const running = this.#running.get(session.id)
    if (running !== undefined) return await running.bytes
    const run: Running = { noted: 0, moved: 0, bytes: Promise.resolve(0) }
    this.#running.set(session.id, run)
    run.bytes = this.#count(session, run)
    return await run.bytes
  }

  async #count (session: CountedSession, run: Running): Promise<number> {
    try {
      for (let left = moreWalks; ; left--) {
        Object.assign(run, { noted: 0, moved: this.#moving.sum(session.id) })
        const { bytes } = await this.survey(session, { since: undefined })
        if (run.moved === 0 || left === 0) return bytes
      }
    } finally {
      this.#running.delete(session.id)
    }
  }

  /**
   * Says that a file of so many bytes takes its place, until what it gives is called. A count that runs meanwhile is done
   * again, and has the file twice rather than not at all where that happens each time.
   */
  move (id: string, bytes: number): () => void {
    const running = this.#running.get(id)
    if (running !== undefined) running.moved += bytes
    return this.#moving.begin(id, bytes)
  }

  /** Says that noted bytes are being written, until what it gives is called. */
  write (id: string, bytes: number): () => void {
    return this.#writing.begin(id, bytes)
  }

  /**
   * Looks at the files by itself, and keeps what they take. Bytes that were being written when it began, or were noted during a `count`,
   * may be in it or not. The number that was known before has all of them once: it is kept where it differs by no more than these bytes.
   */
  async survey ({ id, tenant, dir, quotaBytes }: CountedSession, options: Omit<SurveyOptions, 'mostBytes' | 'tenant'>): Promise<Survey> {
    const begun = performance.now()
    const unwritten = this.#writing.sum(id)
    const survey = await surveySession(dir, { ...options, tenant, mostBytes: 2 * quotaBytes })
    const now = performance.now()
    const { noted = 0, moved = 0 } = this.#running.get(id) ?? {}
    const [found, doubt] = [survey.bytes + moved, noted + unwritten]
    const before = this.bytesNow(id) ?? Infinity
    const bytes = Math.abs(before - found) > doubt ? found + doubt : Math.max(before, found)
    const isLarge = survey.entries > fewEntries
    if (this.#known.size >= mostCounts) this.#known.clear()
    this.#known.set(id, { bytes, isLarge, until: isLarge ? now + countRest * (now - begun) : now })
    return { ...survey, bytes }
  }

  /** What was counted, with all that was noted since; undefined when that isn't known. */
  bytesNow (id: string): number | undefined {
    return this.#known.get(id)?.bytes
  }

  /** It had more than a few entries when it was counted last. */
  isLarge (id: string): boolean {
    return this.#known.get(id)?.isLarge === true
  }

  /** Notes bytes that come or go before the next count, and tells what there is then. */
  add (id: string, bytes: number): number {
    const running = this.#running.get(id)
    if (running !== undefined) running.noted += Math.max(0, bytes)
    const known = this.#known.get(id)
    if (known === undefined) return 0
    known.bytes = Math.max(0, known.bytes + bytes)
    return known.bytes
  }

  /** Something unknown went away. */
  outdate (id: string): void {
    const known = this.#known.get(id)
    if (known !== undefined) known.until = 0
  }

  forget (id: string): void {
    this.#known.delete(id)
  }
}
