import { onAbort } from './on-abort.ts'

/** The promise's value; rejects with the signal's reason as soon as that aborts. */
export async function unlessAborted<T> (promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  let off = (): void => {}
  const aborted = new Promise<never>((_resolve, reject) => {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- Who aborts chooses the reason.
    off = onAbort(signal, () => { reject(signal.reason) })
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    off()
  }
}
