/**
 * Calls a listener once one of the signals aborts, at once where one has already. Returns what takes the listener off: a signal
 * may live as long as the process. Neither of two shorter ways holds: `AbortSignal.any` can lose a signal that nothing else
 * holds (nodejs/node#57736), and the `signal` option of `addEventListener` forgets all listeners but the last one of a target
 * when memory is collected, and so doesn't take them off.
 */
export function onAbort (signals: AbortSignal | readonly (AbortSignal | undefined)[], listener: (signal: AbortSignal) => void): () => void {
  const offs: Array<() => void> = []
  const off = (): void => { for (const each of offs.splice(0)) each() }
  for (const signal of [signals].flat()) {
    if (signal === undefined) continue
    const tell = (): void => {
      off()
      listener(signal)
    }
    if (signal.aborted) {
      tell()
      break
    }
    signal.addEventListener('abort', tell)
    offs.push(() => { signal.removeEventListener('abort', tell) })
  }
  return off
}

/** A signal that aborts with the first of two; `release` takes its listeners off them. */
export function eitherSignal (first: AbortSignal, second: AbortSignal): { signal: AbortSignal, release: () => void } {
  const controller = new AbortController()
  const release = onAbort([first, second], ({ reason }) => { controller.abort(reason) })
  return { signal: controller.signal, release }
}
