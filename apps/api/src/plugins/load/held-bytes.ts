import { ownerOfKey, type Principal } from '../../access/principal.ts'

/** Bytes that this process holds for tenants, and for keys without one. */
export class HeldBytes {
  readonly #most: number
  readonly #bytes = new Map<string, number>()

  /** @param most for one owner */
  constructor (most: number) {
    this.#most = most
  }

  /** Whether so many more may be held for an owner: one piece always may. */
  hasRoom (principal: Principal, bytes: number, most = this.#most): boolean {
    const held = this.#bytes.get(ownerOfKey(principal)) ?? 0
    return held === 0 || held + bytes <= most
  }

  /** Returns what lets go of them again; more than once does no harm. */
  hold (principal: Principal, bytes: number): () => void {
    const owner = ownerOfKey(principal)
    this.#bytes.set(owner, (this.#bytes.get(owner) ?? 0) + bytes)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      const left = (this.#bytes.get(owner) ?? 0) - bytes
      if (left > 0) this.#bytes.set(owner, left)
      else this.#bytes.delete(owner)
    }
  }
}
