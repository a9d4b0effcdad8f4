/**
 * Calls a listener once one of the signals aborts, at once where one has already. Returns what takes the listener off: a signal
 * may live as long as the process. `AbortSignal.any` can lose a signal that nothing else holds (nodejs/node#57736).
 */
export function onAbort (signals: AbortSignal | readonly (AbortSignal | undefined)[], listener: (signal: AbortSignal) => void): () => void {
  const heard = new AbortController()
  const off = (): void => { heard.abort() }
  for (const signal of [signals].flat()) {
    if (signal === undefined || heard.signal.aborted) continue
    const tell = (): void => {
      off()
      listener(signal)
    }
    if (signal.aborted) tell()
    else signal.addEventListener('abort', tell, { signal: heard.signal })
  }
  return off
}

/** A signal that aborts with the first of two; `release` takes its listeners off them. */
export function eitherSignal (first: AbortSignal, second: AbortSignal): { signal: AbortSignal, release: () => void } {
  const controller = new AbortController()
  const release = onAbort([first, second], ({ reason }) => { controller.abort(reason) })
  return { signal: controller.signal, release }
}
