import { onAbort } from '@toolyard/runtime'
import { setMaxListeners } from 'node:events'
import type { ServerResponse } from 'node:http'

/** The reason of the abort when the client went away. */
export const disconnected = 'disconnected'

/**
 * Aborts when it makes no sense to wait any longer for what a response needs: the client went away, or one of
 * `endings` aborted. (Fastify's own `request.signal` looks at the request's stream, which closes as soon as its body is read.)
 */
export function abandoned (response: ServerResponse, ...endings: readonly AbortSignal[]): AbortSignal {
  const abort = new AbortController()
  // Each call of a batch may listen.
  setMaxListeners(0, abort.signal)
  // It will not close again.
  if (response.destroyed || response.closed) {
    abort.abort(disconnected)
    return abort.signal
  }
  const off = onAbort(endings, () => { abort.abort('ending') })
  response.once('close', () => {
    off()
    if (!response.writableEnded) abort.abort(disconnected)
  })
  return abort.signal
}
