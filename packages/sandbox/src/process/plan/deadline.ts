import { onAbort, within } from '@toolyard/runtime'

/** Why a run was ended from outside; `afterMs` is the timeout. */
export type Interruption = { kind: 'timeout', afterMs: number } | { kind: 'abort', reason: unknown }

export interface Deadline {
  /** Fulfilled at the timeout or at the abort, whichever is first; never rejected. */
  interrupted: Promise<Interruption>
  /** Ends the watch: no timer and no listener stays behind. */
  clear (): void
}

/** How long `undo` is waited for, in milliseconds: who was asked to start something may answer late. */
const lateMs = 1_000

/** Gives what `begun` gives, unless the interruption comes first. Then `undo` ends what may still come; it has a second for that. */
export async function unlessInterrupted<T> (
  begun: Promise<T>, interrupted: Promise<Interruption>, undo: (begun: Promise<T>) => Promise<unknown>
): Promise<{ kind: 'done', value: T } | Interruption> {
  const first = await Promise.race([interrupted, begun.then(value => ({ kind: 'done' as const, value }))])
  if (first.kind !== 'done') await within(lateMs, undo(begun).catch(() => {}))
  return first
}

/** Watches for the execution timeout (milliseconds) and for the abort of `signal`, as one promise. */
export function startDeadline (timeoutMs: number, signal: AbortSignal): Deadline {
  let interrupt: (interruption: Interruption) => void = () => {}
  const interrupted = new Promise<Interruption>(resolve => { interrupt = resolve })
  const timer = setTimeout(() => { interrupt({ kind: 'timeout', afterMs: timeoutMs }) }, timeoutMs)
  const off = onAbort(signal, () => { interrupt({ kind: 'abort', reason: signal.reason }) })
  return {
    interrupted,
    clear () {
      clearTimeout(timer)
      off()
    }
  }
}
