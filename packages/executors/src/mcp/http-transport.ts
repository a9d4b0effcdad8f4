import type { Transport } from '@modelcontextprotocol/client'
import { onAbort } from '@toolyard/runtime'
import type { HttpPolicy } from '../run/tool-call.ts'
import { createGuardedFetch, type FetchOptions } from './http-fetch.ts'

/** Between an answer, or a cancel, and the end of the request, in milliseconds. */
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
      if (message.method === 'notifications/cancelled') endSoon(message.params?.['requestId'])
      return await send(message, options)
    }
    const { id } = message
    const own = new AbortController()
    open.set(String(id), own)
    if (options?.requestSignal !== undefined) onAbort(options.requestSignal, () => { end(id) })
    await send(message, { ...options, requestSignal: own.signal }).catch((error: unknown) => {
      end(id)
      throw error
    })
  }
  return { transport, release: async () => { await guarded.close() } }
}
