import type { ServerResponse } from 'node:http'

/**
 * Aborts when it makes no sense to wait any longer for what a response needs: the client went away, or `ending`
 * aborted. (Fastify's own `request.signal` looks at the request's stream, which closes as soon as its body is read.)
 */
export function abandoned (response: ServerResponse, ending: AbortSignal): AbortSignal {
  const abort = new AbortController()
  const end = (): void => { abort.abort() }
  ending.addEventListener('abort', end)
  response.once('close', () => {
    ending.removeEventListener('abort', end)
    if (!response.writableEnded) end()
  })
  if (ending.aborted) end()
  return abort.signal
}
