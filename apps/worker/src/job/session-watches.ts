import { SessionWatch } from '@toolyard/workspace'

export type { SessionWatch }

/** Directories that all watches of a worker have together: the kernel gives a user some thousands. */
const mostDirectories = 2_000

export class SessionWatches {
  readonly #watches = new Map<string, SessionWatch>()

  /** The watch of a session that is whole, while nothing was changed. */
  get (id: string): SessionWatch | undefined {
    const watch = this.#watches.get(id)
    if (watch === undefined) return undefined
    this.#watches.delete(id)
    if (!watch.isQuiet) return undefined
    this.#watches.set(id, watch)
    return watch
  }

  /** A watch that a walk adds directories to; `keep` takes it when the walk is done. */
  grow (): SessionWatch {
    return new SessionWatch()
  }

  keep (id: string, watch: SessionWatch): void {
    this.forget(id)
    this.#watches.set(id, watch)
    let all = [...this.#watches.values()].reduce((sum, { size }) => sum + size, 0)
    for (const [oldest, { size }] of this.#watches) {
      if (all <= mostDirectories) break
      all -= size
      this.forget(oldest)
    }
  }

  forget (id: string): void {
    this.#watches.get(id)?.end()
    this.#watches.delete(id)
  }

  end (): void {
    for (const id of [...this.#watches.keys()]) this.forget(id)
  }
}
