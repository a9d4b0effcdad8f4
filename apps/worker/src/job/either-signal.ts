/**
 * A signal that aborts with the first of two; `release` takes its listeners off them.
 * `AbortSignal.any` can lose a signal that nothing else holds.
 */
export function eitherSignal (first: AbortSignal, second: AbortSignal): { signal: AbortSignal, release: () => void } {
  const controller = new AbortController()
  const abort = (): void => { controller.abort(first.aborted ? first.reason : second.reason) }
  if (first.aborted || second.aborted) abort()
  for (const signal of [first, second]) signal.addEventListener('abort', abort, { once: true })
  return { signal: controller.signal, release: () => { for (const signal of [first, second]) signal.removeEventListener('abort', abort) } }
}
