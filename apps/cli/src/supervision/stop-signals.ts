import { sharedAbort } from '@toolyard/runtime'

export interface StopSignals {
  /** Aborted at the first of the signals. */
  stop: AbortSignal
  /** Aborted at a further one, a second or more later. */
  force: AbortSignal
}

/** npm passes on a Ctrl-C that the terminal has sent to everyone already: two signals at once are one wish. */
const sameWishMs = 1_000

/**
 * Takes over the signals that stop a process, until it exits; SIGHUP may mean something else to it. They are never left to
 * Node.js again: a further signal would then kill the process while it cleans up.
 */
export function catchStopSignals (names: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']): StopSignals {
  const stop = sharedAbort()
  const force = sharedAbort()
  let stoppedAt = 0
  const onSignal = (): void => {
    if (stop.signal.aborted && performance.now() - stoppedAt >= sameWishMs) force.abort()
    if (stop.signal.aborted) return
    stoppedAt = performance.now()
    stop.abort()
  }
  for (const name of names) process.on(name, onSignal)
  return { stop: stop.signal, force: force.signal }
}
