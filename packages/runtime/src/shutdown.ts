/** One step of stopping a process; steps run in the order they were given. */
export type StopStep = () => Promise<void> | void

/** How long stopping may take, and who hears of it. */
export interface ShutdownOptions {
  /** After so many milliseconds the process exits anyway, with code 1. */
  graceMs: number
  onStart?: (reason: string) => void
  onError?: (error: unknown) => void
}

/**
 * Stops the process once, at SIGTERM, at SIGINT, or when the parent that started it with an IPC channel is gone:
 * runs the steps, then exits with 0. A step that fails is reported and doesn't keep the rest from running.
 */
export function stopOnSignal (steps: StopStep[], options: ShutdownOptions): void {
  let stopping = false
  const stop = (reason: string): void => {
    if (stopping) return
    stopping = true
    options.onStart?.(reason)
    setTimeout(() => process.exit(1), options.graceMs).unref()
    void runSteps(steps, options).then(() => process.exit(0))
  }
  process.once('SIGTERM', () => { stop('SIGTERM') })
  process.on('SIGINT', () => { stop('SIGINT') })
  if (process.channel !== undefined) process.once('disconnect', () => { stop('parent gone') })
}

async function runSteps (steps: StopStep[], options: ShutdownOptions): Promise<void> {
  for (const step of steps) {
    try {
      await step()
    } catch (error) {
      options.onError?.(error)
    }
  }
}

/** Calls a function at each SIGHUP, which then no longer ends the process. */
export function onHangup (handler: () => void): void {
  process.on('SIGHUP', handler)
}
