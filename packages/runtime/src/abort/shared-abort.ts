import { setMaxListeners } from 'node:events'

/** An abort that any number may listen for at a time: Node takes the eleventh listener of a signal for a leak, and warns. */
export function sharedAbort (): AbortController {
  const abort = new AbortController()
  setMaxListeners(0, abort.signal)
  return abort
}
