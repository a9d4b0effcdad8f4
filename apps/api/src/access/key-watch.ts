import { mapInTurns } from '@toolyard/runtime'
import type { KeyRing } from './key-ring.ts'
import type { Principal } from './principal.ts'

interface Watched {
  principal: Principal
  end: () => void
}

/**
 * Ends what may go on for hours with its key, its token or its login: when the key is revoked, and at a look from time to time,
 * since messages may be lost, and nobody tells of a key whose time is over, or of a logout.
 */
export class KeyWatch {
  readonly #keys: KeyRing
  readonly #everyMs: number
  readonly #watched = new Set<Watched>()
  #timer: NodeJS.Timeout | undefined

  constructor (keys: KeyRing, everyMs: number) {
    this.#keys = keys
    this.#everyMs = everyMs
    keys.onRevoked(() => { void this.#look() })
  }

  /** While Redis is away, nobody with a key is sent away. Returns what ends the watch. */
  watch (principal: Principal, end: () => void): () => void {
    const watched = { principal, end }
    this.#watched.add(watched)
    this.#timer ??= setInterval(() => { void this.#look() }, this.#everyMs).unref()
    return () => {
      this.#watched.delete(watched)
      if (this.#watched.size > 0) return
      clearInterval(this.#timer)
      this.#timer = undefined
    }
  }

  /** Each key is asked for once. What ends with it may be thousands of streams: they end in turns. */
  async #look (): Promise<void> {
    const asked = new Map<string, Promise<boolean>>()
    const looked = await Promise.all([...this.#watched].map(async watched => {
      const { principal } = watched
      const { proof, endsAt = Infinity, isLoggedIn } = principal
      const staying = asked.get(proof) ?? this.#keys.opensStill(principal).catch(() => true)
      asked.set(proof, staying)
      const isOver = endsAt <= this.#keys.now() || !await staying || await isLoggedIn?.().catch(() => true) === false
      return isOver ? [watched] : []
    }))
    await mapInTurns(looked.flat(), watched => {
      // It may have ended meanwhile, and its connection serve another request.
      if (this.#watched.has(watched)) watched.end()
    })
  }
}
