import type { KeyRing } from './key-ring.ts'
import type { Principal } from './principal.ts'

/** How often each key is looked at, in milliseconds. */
const watchMs = 500

interface WatchedKey {
  principal: Principal
  ends: Set<AbortController>
}

/** Ends requests that may go on for hours with their keys. Each key is looked at once for all of its requests. */
export class KeyWatch {
  readonly #keys: KeyRing
  /** Keys of requests that go on, by proof. */
  readonly #watched = new Map<string, WatchedKey>()
  #timer: NodeJS.Timeout | undefined

  constructor (keys: KeyRing) {
    this.#keys = keys
  }

  /** While Redis is away, nobody with a key is sent away. Call `stop` when the request has ended. */
  watch (principal: Principal): { revoked: AbortSignal, stop: () => void } {
    const end = new AbortController()
    const known = this.#watched.get(principal.proof) ?? { principal, ends: new Set() }
    this.#watched.set(principal.proof, known)
    known.ends.add(end)
    this.#timer ??= setInterval(() => { this.#look() }, watchMs).unref()
    const stop = (): void => {
      known.ends.delete(end)
      if (known.ends.size === 0 && this.#watched.get(principal.proof) === known) this.#watched.delete(principal.proof)
      if (this.#watched.size > 0) return
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    return { revoked: end.signal, stop }
  }

  #look (): void {
    for (const { principal, ends } of this.#watched.values()) {
      this.#keys.opensStill(principal).then(isGood => {
        if (!isGood) for (const end of ends) end.abort()
      }, () => {})
    }
  }
}
