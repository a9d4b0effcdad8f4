import type { Transport } from '@modelcontextprotocol/client'
import { asError, isRecord } from '@toolyard/contract/terms'
import { onAbort } from '@toolyard/runtime'
import type { HttpPolicy } from '../../run/tool-call.ts'
import { unanswered } from './http-body.ts'
import { createGuardedFetch, type FetchOptions } from './http-fetch.ts'
import { ServerFault } from './message-reader.ts'

/** Between an answer and the end of the request, in milliseconds. */
const graceMs = 1_000
/** Before a stream that ended is opened again, whatever the server says, in milliseconds. */
const pauseMs = { least: 500, most: 60_000 }

/**
 * Messages over HTTP. Each request is a connection, which the server may leave open: it is ended when the request was answered or
 * given up, and no stream is opened again for it.
 */
export async function createHttpTransport (
  url: string, headers: Record<string, string>, { http, ...options }: Omit<FetchOptions, 'onAnswer'> & { http: HttpPolicy }
): Promise<{ transport: Transport, release: () => Promise<void> }> {
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  /** The requests that are open, by their ids: servers turn numbers into texts. */
  const open = new Map<string, AbortController>()
  const end = (id: unknown): void => {
    open.get(String(id))?.abort()
    open.delete(String(id))
  }
  const endSoon = (id: unknown): void => {
    if (open.has(String(id))) setTimeout(end, graceMs, id).unref()
  }
  const guarded = createGuardedFetch(url, http, { ...options, onAnswer: endSoon })
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: guarded.fetch,
    requestInit: { headers },
    reconnectionScheduler (reconnect, delay) {
      const timer = setTimeout(reconnect, Math.min(Math.max(delay, pauseMs.least), pauseMs.most)).unref()
      return () => { clearTimeout(timer) }
    }
  })
  const send = transport.send.bind(transport)
  transport.send = async (message, options) => {
    if (!('method' in message)) return await send(message, options)
    if (!('id' in message)) {
      // At once: what comes in it yet would be taken for something about the next call.
      if (message.method === 'notifications/cancelled') end(message.params?.['requestId'])
      return await send(message, options)
    }
    const { id } = message
    const own = new AbortController()
    open.set(String(id), own)
    if (options?.requestSignal !== undefined) onAbort(options.requestSignal, () => { end(id) })
    const onRequestStreamEnd = (): void => {
      end(id)
      options?.onRequestStreamEnd?.()
      // Without an answer the client would wait until the time of the request is over. It ignores a second one.
      transport.onmessage?.(unanswered(id))
    }
    await send(message, { ...options, requestSignal: own.signal, onRequestStreamEnd }).catch((error: unknown) => {
      end(id)
      throw error
    })
  }
  return { transport, release: async () => { await guarded.close() } }
}

/** What to do about a server that answers, but can't be opened; undefined where its own words are all there is. */
export function openFault (error: unknown): ServerFault | undefined {
  if (error instanceof ServerFault) return undefined
  const { status, issues }: Record<string, unknown> = isRecord(error) ? error : {}
  const { message } = asError(error)
  if (typeof status !== 'number') {
    const isForeign = error instanceof SyntaxError || Array.isArray(issues) || message.startsWith('Unexpected content type')
    return isForeign ? new ServerFault('it answers POST with something that is no message of MCP: give the URL at which it speaks streamable HTTP (often with /mcp at its end)') : undefined
  }
  // Servers of the first transport take no POST where they are asked for their events.
  if (status === 404 || status === 405) return new ServerFault(`it answers POST with the HTTP status ${status}, as a server of the older HTTP+SSE transport does: give the URL at which it speaks streamable HTTP (often /mcp in place of /sse), or run it as a command`)
  const said = message.replace(/^Error POSTing to endpoint: /, '')
  const isRefusal = status === 401 || status === 403
  return new ServerFault(`it ${isRefusal ? 'refuses the credentials of this service' : 'answers'} with the HTTP status ${status}: ${said}${isRefusal ? ' (a credential is {"setting": NAME, "prefix": "Bearer "} in "headers" of its entry)' : ''}`)
}
