import { unlessAborted } from '@toolyard/runtime'
import { WorkspaceFailure } from '@toolyard/workspace'
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** A body that is still coming. */
export interface ComingBody {
  request: IncomingMessage
  /** Called for each piece. */
  onPiece: () => void
}

/** What came of a body. */
export interface Received {
  bytes: number
  sha256: string
}

/** A body that is handed on as it comes, and counted. */
export class BodyPieces {
  readonly #body: ComingBody | undefined
  readonly #signal: AbortSignal
  readonly #room: number
  readonly #hash = createHash('sha256')
  #bytes = 0

  /** @param room how many bytes it may have */
  constructor (body: ComingBody | undefined, signal: AbortSignal, room = Infinity) {
    this.#body = body
    this.#signal = signal
    this.#room = room
  }

  /**
   * The pieces, once.
   *
   * @throws WorkspaceFailure QUOTA_EXCEEDED; the signal's reason; the connection's error when the body breaks off.
   */
  async * [Symbol.asyncIterator] (): AsyncGenerator<Buffer> {
    if (this.#body === undefined) return
    const { request, onPiece } = this.#body
    if (Number(request.headers['content-length'] ?? 0) > this.#room) throw overQuota()
    // The connection stays, for the answer.
    const pieces = request.iterator({ destroyOnReturn: false })
    for (;;) {
      const next: Promise<IteratorResult<Buffer, undefined>> = pieces.next()
      // Who gives up hears nothing of its end.
      next.catch(() => {})
      const piece = await unlessAborted(next, this.#signal)
      if (piece.done === true) return
      const { value } = piece
      onPiece()
      this.#bytes += value.length
      if (this.#bytes > this.#room) throw overQuota()
      this.#hash.update(value)
      yield value
    }
  }

  /** Once all pieces have been taken. */
  received (): Received {
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex') }
  }
}

/** What is told where a session would have more than it may. */
export function overQuota (): WorkspaceFailure {
  return new WorkspaceFailure('The files of the session would take more than its quota', 'QUOTA_EXCEEDED')
}
