import type { ErrorCode, ToolyardError } from './errors.ts'

const retryable = new Set<ErrorCode>(['UNREACHABLE', 'UNAVAILABLE', 'RATE_LIMITED'])
const firstDelayMs = 100
const longestDelayMs = 2_000

/** Decides whether a failed request is sent again, and waits before it is. One for each request or stream. */
export class Backoff {
  readonly #retryMs: number
  #failures = 0
  #failingSince = 0

  /** @param retryMs how long failures that follow each other are borne. */
  constructor (retryMs: number) {
    this.#retryMs = retryMs
  }

  /** The service answered. */
  restored (): void {
    this.#failures = 0
  }

  /**
   * Waits before the next try: as long as `Retry-After` says, else twice as long as before, with chance so that many
   * clients don't come at once.
   *
   * @throws the error, when it is of no use to try again or the time is over; the signal's reason.
   */
  async wait (error: ToolyardError, signal: AbortSignal | undefined): Promise<void> {
    const now = performance.now()
    if (this.#failures === 0) this.#failingSince = now
    const backoffMs = Math.min(longestDelayMs, firstDelayMs * 2 ** this.#failures) * (0.5 + Math.random() / 2)
    const delayMs = error.retryAfterMs ?? backoffMs
    if (!retryable.has(error.code) || now + delayMs - this.#failingSince > this.#retryMs) throw error
    this.#failures++
    await sleep(delayMs, signal)
  }
}

/** @throws the signal's reason. */
export async function sleep (ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const aborted = (): void => {
      clearTimeout(timer)
      // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- Whatever aborted it.
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', aborted)
      resolve()
    }, ms)
    signal?.addEventListener('abort', aborted, { once: true })
  })
}
