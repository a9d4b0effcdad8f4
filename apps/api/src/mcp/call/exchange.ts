import type { FastifyReply, FastifyRequest } from 'fastify'
import { setTimeout as delay } from 'node:timers/promises'
import type { Principal } from '../../access/principal.ts'
import type { EventStream } from '../../streams/event-stream.ts'
import type { EventStreams } from '../../streams/event-streams.ts'

/** One request of a client, and the way its answer goes. */
export interface Exchange {
  principal: Principal
  /** The queue of the jobs that it makes. */
  queue: string
  /** Its session's own part of the id; only clients of 2025 have one. */
  session: string | undefined
  /** From which level on a client of 2025 wants log messages. */
  logLevel: string | undefined
  /** Its answer may be a stream of events. */
  mayStream: boolean
  /** Aborted when the client went away, or the request was cancelled: nobody reads the answer. */
  gone: AbortSignal
  /** Closes the answer without a word. */
  leave: () => void
  /** Where its answer is a stream that has begun. */
  stream: EventStream | undefined
  /** What jobs say of the request that they come from. */
  origin: FastifyRequest['origin']
  /** Names the request in the log. */
  id: string
  log: FastifyRequest['log']
}

/** How long a writer waits before it looks again whether a slow reader has room, in milliseconds. */
const roomMs = 50

/** Waits until the reader of an answer has taken what it was sent. */
export async function roomIn (exchange: Exchange): Promise<void> {
  while (exchange.stream?.isFull === true && !exchange.gone.aborted) await delay(roomMs)
}

/** The request as the protocol's own code takes it; its body was read already. */
export function webRequest (request: FastifyRequest, signal: AbortSignal): Request {
  const headers = Object.entries(request.headers).flatMap(
    ([name, value]) => [value ?? []].flat().map(each => [name, each] as [string, string])
  )
  return new Request(
    'http://localhost/mcp', { method: request.method, headers: headers.filter(([name]) => name !== 'content-length'), signal }
  )
}

/** Sends the answer that the protocol's own code made. */
export async function sendResponse (
  response: Response | undefined, reply: FastifyReply, exchange: Exchange, streams: EventStreams, isCall: boolean
): Promise<void> {
  if (response === undefined || exchange.gone.aborted) {
    reply.hijack()
    reply.raw.destroy()
    return
  }
  if (response.body === null || response.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
    const text = await response.text()
    for (const [name, value] of response.headers) void reply.header(name, value)
    await reply.code(response.status).serializer(String).send(text)
    return
  }
  const stream = isCall ? streams.openCall(reply) : streams.open(reply)
  exchange.stream = stream
  for await (const piece of response.body) stream.send(Buffer.from(piece as Uint8Array))
  stream.end(Buffer.alloc(0))
}
