import { unlessAborted } from '@toolyard/runtime'
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Allowance } from '@toolyard/workspace'

/** A body that is still coming. */
export interface ComingBody {
  request: IncomingMessage
  /** To be called when some of it is waited for; what it gives, when that has come. */
  waits: () => () => void
}

export interface Received {
  bytes: number
  sha256: string
}

/** The pieces of a body as they come, once. @throws the signal's reason; the connection's error when the body breaks off. */
export async function * piecesOf ({ request, waits }: ComingBody, signal: AbortSignal): AsyncGenerator<Buffer> {
  // The connection stays, for the answer.
  const pieces = request.iterator({ destroyOnReturn: false })
  try {
    for (;;) {
      const next: Promise<IteratorResult<Buffer, undefined>> = pieces.next()
      // Who gives up hears nothing of its end.
      next.catch(() => {})
      const piece = await unlessAborted(next, signal).finally(waits())
      if (piece.done === true) return
      yield piece.value
    }
  } finally {
    // An iterator that is left open keeps the rest of the body from being dropped. It may still wait for a piece.
    void pieces.return?.().catch(() => {})
  }
}

/** The content of a file that is handed on as it comes, and counted. */
export class CountedPieces {
  readonly #pieces: AsyncIterable<Uint8Array>
  readonly #allowance: Allowance
  readonly #hash = createHash('sha256')
  #bytes = 0

  constructor (pieces: AsyncIterable<Uint8Array>, allowance: Allowance) {
    this.#pieces = pieces
    this.#allowance = allowance
  }

  /** @throws WorkspaceFailure QUOTA_EXCEEDED; what the pieces throw. */
  async * [Symbol.asyncIterator] (): AsyncGenerator<Uint8Array> {
    for await (const piece of this.#pieces) {
      this.#allowance.add(piece.length)
      this.#bytes += piece.length
      this.#hash.update(piece)
      yield piece
    }
  }

  /** Once all pieces have been taken. */
  received (): Received {
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex') }
  }
}
