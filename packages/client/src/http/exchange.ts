/**
 * One HTTP exchange that ends when its caller aborts it or when the service is silent for too long; a connection whose
 * other end has vanished tells nothing by itself.
 */
export class Exchange {
  readonly #controller = new AbortController()
  readonly #caller: AbortSignal | undefined
  readonly #silenceMs: number
  #timer: ReturnType<typeof setTimeout> | undefined
  readonly #aborted = (): void => { this.#controller.abort(this.#caller?.reason) }

  /** @throws the caller's reason, when it has aborted already. */
  constructor (caller: AbortSignal | undefined, silenceMs: number) {
    caller?.throwIfAborted()
    this.#caller = caller
    this.#silenceMs = silenceMs
    caller?.addEventListener('abort', this.#aborted, { once: true })
    this.heard()
  }

  get signal (): AbortSignal {
    return this.#controller.signal
  }

  /** The service has sent something. */
  heard (): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => { this.#controller.abort(new Error(`nothing came for ${this.#silenceMs} ms`)) }, this.#silenceMs)
  }

  /** Ends it, and the connection with it where an answer is still under way. */
  close (): void {
    clearTimeout(this.#timer)
    this.#caller?.removeEventListener('abort', this.#aborted)
    this.#controller.abort()
  }
}
