/** Files that are shown to a session once: how many are remembered, of all sessions. */
const most = 10_000

/** Remembers which files this worker has shown to which session; the oldest are forgotten. */
export class SideReads {
  readonly #seen = new Set<string>()

  /** Whether a file is shown for the first time. A call without a session always sees it. */
  isFirst (session: string | undefined, path: string): boolean {
    if (session === undefined) return true
    const key = `${session}\0${path}`
    if (this.#seen.has(key)) return false
    this.#seen.add(key)
    const [oldest] = this.#seen
    if (this.#seen.size > most && oldest !== undefined) this.#seen.delete(oldest)
    return true
  }
}
