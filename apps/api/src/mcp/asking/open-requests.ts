/**
 * Requests of sessions of 2025 that this process has open, and what is said about them: it comes as a request of its own, to any
 * process.
 */
export class OpenRequests<Said = undefined> {
  readonly #open = new Map<string, (said: Said) => void>()

  /** Returns what takes the request out again. */
  add (session: string, request: string | number, onSaid: (said: Said) => void): () => void {
    const key = JSON.stringify([session, request])
    this.#open.set(key, onSaid)
    return () => { if (this.#open.get(key) === onSaid) this.#open.delete(key) }
  }

  /** Says it to whoever has the request open, if it is here. */
  say (session: string, request: string | number, said: Said): void {
    this.#open.get(JSON.stringify([session, request]))?.(said)
  }
}
