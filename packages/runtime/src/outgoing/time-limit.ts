import { onAbort } from '../abort/on-abort.ts'

export interface TimeLimit {
  /** Aborts when the time is over, or when the caller's own signal does. */
  signal: AbortSignal
  /** Whether it was the time. */
  readonly passed: boolean
  /** Ends the watch: no timer and no listener stays behind. */
  clear (): void
}

/** Limits what is sent to `ms` milliseconds, and to the life of `caller`. */
export function startTimeLimit (ms: number, caller: AbortSignal): TimeLimit {
  const limit = new AbortController()
  let passed = false
  const timer = setTimeout(() => {
    passed = true
    limit.abort()
  }, ms)
  const off = onAbort(caller, () => { limit.abort(caller.reason) })
  return {
    signal: limit.signal,
    get passed () { return passed },
    clear () {
      clearTimeout(timer)
      off()
    }
  }
}
