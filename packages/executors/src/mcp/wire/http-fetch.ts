import type { RequestId } from '@modelcontextprotocol/client'
import { asError, errorCode, isRecord, thrownAs } from '@toolyard/contract/terms'
import { onAbort, sharedAbort } from '@toolyard/runtime'
import { openConnections } from '@toolyard/runtime/connections'
import { AddressRefusedError, isListedHost, startTimeLimit } from '@toolyard/runtime/outgoing'
import { shortageError, shortageOf } from '@toolyard/sandbox'
import { fetch, type RequestInit, type Response as FetchResponse } from 'undici'
import type { HttpPolicy } from '../../run/tool-call.ts'
import { readEvents, readWhole, unanswered, type Reading } from './http-body.ts'
import { ServerFault, UnsentFault, notRead } from './message-reader.ts'

interface GuardedFetch {
  fetch: (url: string | URL, init?: RequestOptions) => Promise<Response>
  close (): Promise<void>
}

type RequestOptions = globalThis.RequestInit

export interface FetchOptions extends Reading {
  /** Sent in place of a message that the client has written. */
  textOf: (json: string) => string
  /** Gets the reason why something that a server sent can't be read. */
  onFault: (reason: string) => void
}

/** How long a server may take to take what needs no answer. */
const tellMs = 10_000
/** Answers to what a server asked, that it may leave untaken at a time. */
const mostUnread = 64
/** Bytes that are read of a body that nobody looks at. */
const drainedBytes = 16_384

/**
 * Makes a `fetch` for one server: only to its own origin, to public addresses unless the operator says otherwise, and
 * with bounded messages. A redirect to another origin fails before anything is sent there.
 *
 * @throws ServerFault for a URL that may not be reached.
 */
export function createGuardedFetch (
  url: string, { privateHosts, lookup }: HttpPolicy, { textOf, onFault, ...reading }: FetchOptions
): GuardedFetch {
  const { origin, protocol, hostname } = new URL(url)
  const allowPrivate = isListedHost(privateHosts, hostname)
  if (protocol === 'http:' && !allowPrivate) throw new ServerFault('http:// is for hosts of HTTP_PRIVATE_HOSTS; others need https://')
  const connections = openConnections({ allowPrivate, ...lookup === undefined ? {} : { lookup } })
  const life = sharedAbort()
  let unread = 0

  async function send (to: URL, init: RequestOptions | undefined, signal: AbortSignal): Promise<FetchResponse> {
    const body = typeof init?.body === 'string' ? { body: textOf(init.body) } : {}
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- The SDK gives the same in types of the browser's fetch.
    return await fetch(to, { ...init as unknown as RequestInit, ...body, signal, dispatcher: connections.dispatcher })
  }

  /** Sends what needs no answer. A server that asks and asks, and takes no answer, would have a connection open for each. */
  async function tell (to: URL, init: RequestOptions | undefined, isAnswer: boolean): Promise<Response> {
    if (isAnswer && unread >= mostUnread) {
      onFault(notRead)
      throw new ServerFault(notRead)
    }
    const limit = startTimeLimit(tellMs, life.signal)
    unread += isAnswer ? 1 : 0
    try {
      const response = await send(to, init, limit.signal)
      await drained(response)
      return new Response(null, { status: response.status, headers: [...response.headers] })
    } finally {
      unread -= isAnswer ? 1 : 0
      limit.clear()
    }
  }

  /** Sends a request, or opens a stream for what the server says by itself. */
  async function ask (to: URL, init: RequestOptions | undefined, id: RequestId | undefined): Promise<Response> {
    const end = new AbortController()
    const { signal = life.signal } = { ...init?.signal && { signal: init.signal } }
    // One that is made of others, as the client's are, is lost unless something holds it: what reads the body does.
    const off = onAbort(signal, () => { end.abort(signal.reason) })
    const response = await send(to, init, end.signal)
    const { status, statusText, body } = response
    const headers = [...response.headers].filter(([name]) => !['content-encoding', 'content-length'].includes(name))
    if (status === 202 && id !== undefined) {
      end.abort()
      reading.onAnswer(id)
      return Response.json(unanswered(id))
    }
    if (body === null) return new Response(null, { status, headers })
    const isStream = /text\/event-stream/i.test(response.headers.get('content-type') ?? '')
    const pieces = body as AsyncIterable<Uint8Array>
    const read = isStream ? readEvents(pieces, reading) : readWhole(pieces, reading, response.ok ? id : undefined)
    return new Response(streamOf(read, { onFault, onEnd: off }), { status, statusText, headers })
  }

  return {
    async fetch (target, init) {
      const to = new URL(target)
      if (to.origin !== origin) throw new ServerFault('it redirects to another origin')
      try {
        connections.checkHost(to.hostname)
        const sent = messageIn(init?.body)
        const isTold = sent !== undefined && (sent.method === undefined || sent.id === undefined)
        return isTold ? await tell(to, init, sent.method === undefined) : await ask(to, init, sent?.id)
      } catch (error) {
        const refusal = thrownAs(error, AddressRefusedError)
        if (refusal !== undefined) throw new ServerFault(`${refusal.message}; HTTP_PRIVATE_HOSTS names hosts inside`)
        const why = connectFault(error)
        if (why === undefined) throw withCause(error)
        const shortage = shortageError(why, 'open a connection')
        const fault = new UnsentFault(`it can't be reached: ${why}`, shortageOf(shortage) === undefined ? undefined : shortage)
        // It is opened anew, after a rest: what it has become in the meantime is not known.
        onFault(fault.message)
        throw fault
      }
    },
    async close () {
      life.abort()
      await connections.close()
    }
  }
}

/** Why no connection came about; undefined for an error of one that did. */
function connectFault (error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause
  const code = errorCode(first)
  const syscall = isRecord(first) ? first['syscall'] : undefined
  return syscall === 'connect' || syscall === 'getaddrinfo' || code === 'UND_ERR_CONNECT_TIMEOUT' ? code : undefined
}

/** `fetch` says of all failures that it failed, and has in the cause why: a certificate, a header that is too long. */
function withCause (error: unknown): unknown {
  const { cause } = asError(error)
  return error instanceof TypeError && cause instanceof Error
    ? new Error(`the request failed: ${errorCode(cause) ?? cause.message}`, { cause })
    : error
}

/** The message that the client sends; undefined where it sends none. */
function messageIn (body: unknown): { id?: RequestId, method?: string } | undefined {
  if (typeof body !== 'string' || !body.startsWith('{')) return undefined
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- The client has written it.
  return JSON.parse(body) as { id?: RequestId, method?: string }
}

/** A short body leaves its connection to the next request. */
async function drained ({ body }: FetchResponse): Promise<void> {
  if (body === null) return
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    if (bytes > drainedBytes) return
  }
}

function streamOf (body: AsyncGenerator<Uint8Array>, { onFault, onEnd }: { onFault: FetchOptions['onFault'], onEnd: () => void }): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull (controller) {
      try {
        const next = await body.next()
        if (next.done !== true) return controller.enqueue(next.value)
        onEnd()
        controller.close()
      } catch (error) {
        onEnd()
        controller.error(error)
        if (error instanceof ServerFault) onFault(error.message)
      }
    },
    async cancel () {
      onEnd()
      await body.return(undefined)
    }
  })
}
