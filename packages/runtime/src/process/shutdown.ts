import { onParentGone } from './parent.ts'
import { sharedAbort } from '../abort/shared-abort.ts'

/**
 * One step of stopping a process; steps run in the order they were given. Once
 * `hurry` is aborted, nothing is waited for that can be ended.
 */
type StopStep = (hurry: AbortSignal) => Promise<void> | void

interface ShutdownOptions {
  /** After so many milliseconds the process exits anyway, with code 1. */
  graceMs: number
  onStart?: (reason: string) => void
  onError?: (error: unknown) => void
}

/** A Ctrl-C reaches a process from the terminal and from its parent: two signals at once are one wish. */
const sameWishMs = 1_000

/**
 * Stops the process once, at SIGTERM, at SIGINT, or when the parent that started it with an IPC channel is gone:
 * runs the steps, then exits with 0. A step that fails is reported and doesn't keep the rest from running.
 * A further signal, a second or more later, hurries the steps.
 *
 * @returns stops it as a signal does, for another reason
 */
export function stopOnSignal (steps: StopStep[], options: ShutdownOptions): (reason: string) => void {
  const hurry = sharedAbort()
  let stoppedAt: number | undefined
  const stop = (reason: string): void => {
    if (stoppedAt !== undefined) {
      if (performance.now() - stoppedAt >= sameWishMs) hurry.abort()
      return
    }
    stoppedAt = performance.now()
    options.onStart?.(reason)
    setTimeout(() => process.exit(1), options.graceMs).unref()
    void runSteps(steps, hurry.signal, options).then(() => process.exit(0))
  }
  process.on('SIGTERM', () => { stop('SIGTERM') })
  process.on('SIGINT', () => { stop('SIGINT') })
  onParentGone(() => { if (stoppedAt === undefined) stop('parent gone') })
  return stop
}

async function runSteps (steps: StopStep[], hurry: AbortSignal, options: ShutdownOptions): Promise<void> {
  for (const step of steps) {
    try {
      await step(hurry)
    } catch (error) {
      options.onError?.(error)
    }
  }
}

/** Calls a function at each SIGHUP, which then no longer ends the process. */
export function onHangup (handler: () => void): void {
  process.on('SIGHUP', handler)
}
