import { HttpError } from '@toolyard/contract'
import { ownerOf } from '@toolyard/store'
import type { Principal } from '../access/principal.ts'

/** Bytes of the messages that one owner may have open: a call is waited for up to an hour, a stream as long as its client likes. */
const mostBytes = 32 * 1_024 * 1_024

/** The messages that this process holds, since they are being answered. */
export class HeldMessages {
  readonly #bytes = new Map<string, number>()

  /**
   * Returns what lets go of the message again.
   *
   * @throws HttpError `RATE_LIMITED` when the owner has too many of them open; one is always taken.
   */
  hold ({ tenant, name }: Principal, bytes: number): () => void {
    const owner = ownerOf({ tenant, keyName: name })
    const held = this.#bytes.get(owner) ?? 0
    if (held > 0 && held + bytes > mostBytes) {
      throw new HttpError(
        'RATE_LIMITED',
        `The open requests of this ${tenant === undefined ? 'key' : 'tenant'} at /mcp hold the ${mostBytes} bytes that they may: wait until some have ended`
      )
    }
    this.#bytes.set(owner, held + bytes)
    return () => {
      const left = (this.#bytes.get(owner) ?? 0) - bytes
      if (left > 0) this.#bytes.set(owner, left)
      else this.#bytes.delete(owner)
    }
  }
}
