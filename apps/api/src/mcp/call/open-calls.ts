/** The calls that this process answers, of clients of 2025: their cancellation comes as a request of its own, to any process. */
export class OpenCalls {
  readonly #cancels = new Map<string, () => void>()

  /** Returns what takes the call out again. */
  add (session: string, request: string | number, cancel: () => void): () => void {
    const key = JSON.stringify([session, request])
    this.#cancels.set(key, cancel)
    return () => { if (this.#cancels.get(key) === cancel) this.#cancels.delete(key) }
  }

  /** Cancels a call, if it is here. */
  cancel (session: string, request: string | number): void {
    this.#cancels.get(JSON.stringify([session, request]))?.()
  }
}
