export interface TimeLimit {
  /** Aborts when the time is over, or when the caller's own signal does. */
  signal: AbortSignal
  /** Whether it was the time. */
  readonly passed: boolean
  /** Ends the watch: no timer and no listener stays behind. */
  clear (): void
}

/**
 * Limits what is sent to `ms` milliseconds, and to the life of `caller`. A timer of its own: what `AbortSignal.any` makes
 * of `AbortSignal.timeout` is forgotten when garbage is collected (nodejs/node#57736).
 */
export function startTimeLimit (ms: number, caller: AbortSignal): TimeLimit {
  const limit = new AbortController()
  let passed = false
  const onAbort = (): void => { limit.abort(caller.reason) }
  const timer = setTimeout(() => {
    passed = true
    limit.abort()
  }, ms)
  caller.addEventListener('abort', onAbort, { once: true })
  if (caller.aborted) onAbort()
  return {
    signal: limit.signal,
    get passed () { return passed },
    clear () {
      clearTimeout(timer)
      caller.removeEventListener('abort', onAbort)
    }
  }
}
