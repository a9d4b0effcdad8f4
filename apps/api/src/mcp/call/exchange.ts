import { defaultQueue, isSessionId, maxOutputCharsText, queryChars, sessionText, type Batch } from '@toolyard/contract'
import { isQueueName, isRecord, queueNamePattern, firstChars } from '@toolyard/contract/terms'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { setTimeout as delay } from 'node:timers/promises'
import type { Principal } from '../../access/principal.ts'
import type { AnswerRoom } from '../../plugins/load/unsent-answers.ts'
import type { EventStream } from '../../streams/event-stream.ts'
import type { EventStreams } from '../../streams/event-streams.ts'
import { jsonFrame } from '../../streams/frame.ts'
import type { ClientForms } from '../asking/client-forms.ts'
import type { AskedClient } from '../asking/elicit.ts'
import { longestFault, namedFaults, namedFaultsOfEvent } from './named-faults.ts'
import { described, invalidRequest, rpcError } from './rpc-error.ts'
import type { WrittenParts } from './written-parts.ts'

export interface CallPlace {
  queue: string
  /** The session whose files are their workspace; undefined for the shared one. */
  session: string | undefined
}

interface CallAddress extends CallPlace {
  /** When the connection breaks; undefined for the default of the client's revision. */
  onDisconnect: Batch['onDisconnect'] | undefined
  /** From which length on outputs are cut; undefined: they never are. */
  maxOutputChars: number | undefined
}

/** One request of a client, and the way its answer goes. */
export interface Exchange {
  principal: Principal
  /** As its address has it. */
  place: CallAddress
  /** The own part of the id of its session of the protocol; only clients of 2025 have one. */
  session: string | undefined
  /** The key that it comes from, as sessions of the protocol have it. */
  owner: string
  /** From which level on a client of 2025 wants log messages. */
  logLevel: string | undefined
  /** Its answer may be a stream of events. */
  mayStream: boolean
  /** How a client of 2025 can be asked, by what it said when its session began. */
  forms: ClientForms
  /** Writes a message into the answer to a client of 2025, which is a stream then. */
  send: AskedClient['send'] | undefined
  /** Where a held job is approved; undefined where nothing tells the address of the console. */
  approvalUrl: (jobId: string) => string | undefined
  /** Aborted when the client went away, or the request was cancelled: nobody reads the answer. */
  gone: AbortSignal
  /** Closes the answer without a word. */
  leave: () => void
  /** Where its answer is a stream that has begun. */
  stream: EventStream | undefined
  written: WrittenParts
  /** For the outputs that are read for its answer. */
  room: AnswerRoom
  origin: FastifyRequest['origin']
  /** Names the request in the log. */
  id: string
  log: FastifyRequest['log']
}

/**
 * Reads the address of a request: `/mcp?queue=NAME&session=ID&on_disconnect=cancel&max_output_chars=N`.
 *
 * @throws RpcHttpError 400
 */
export function placeOf (request: FastifyRequest): CallAddress {
  const query: Record<string, unknown> = isRecord(request.query) ? request.query : {}
  const { queue = defaultQueue, session, on_disconnect: onDisconnect, max_output_chars: chars, ...rest } = query
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) throw invalidRequest(`'${firstChars(unknown, 80)}' is not a known parameter of /mcp (known: 'queue', 'session', 'on_disconnect', 'max_output_chars')`)
  if (typeof queue !== 'string' || !isQueueName(queue)) throw invalidRequest(`'queue' must match ${queueNamePattern}`)
  if (session !== undefined && !isSessionId(session)) throw invalidRequest(sessionText)
  if (onDisconnect !== undefined && onDisconnect !== 'cancel' && onDisconnect !== 'leave') throw invalidRequest("'on_disconnect' must be 'cancel' or 'leave'")
  const maxOutputChars = queryChars(chars)
  if (chars !== undefined && maxOutputChars === undefined) throw invalidRequest(maxOutputCharsText)
  return { queue, session, onDisconnect, maxOutputChars }
}

/** How long a writer waits before it looks again whether a slow reader has room, in milliseconds. */
const roomMs = 50

/** Waits until the reader of an answer has taken what it was sent. */
export async function roomIn (exchange: Exchange): Promise<void> {
  while (exchange.stream?.isFull === true && !exchange.gone.aborted) await delay(roomMs)
}

/** Headers for the protocol's own code: what a client takes was looked at already, and what it sent was read. */
const agreed = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
/** Headers that say one thing. */
const once: ReadonlySet<string> = new Set(['mcp-protocol-version', 'mcp-session-id', 'mcp-method'])

/** The request as the protocol's own code takes it; its body was read already. */
export function webRequest (request: FastifyRequest, signal: AbortSignal): Request {
  const own = Object.entries(request.headers).flatMap(([name, value]) => {
    const text = once.has(name) ? onceOf(value) : value
    return name.startsWith('mcp-') && text !== undefined ? [[name, String(text)] as [string, string]] : []
  })
  return new Request('http://localhost/mcp', { method: request.method, headers: [...Object.entries(agreed), ...own], signal })
}

/** The value of a header, which proxies may have written twice; undefined for an empty one. */
export function onceOf (header: string | string[] | undefined): string | undefined {
  const values = new Set([header ?? ''].flat().join(',').split(',').map(value => value.trim()).filter(value => value !== ''))
  return values.size === 0 ? undefined : [...values].join(', ')
}

/** Sends the answer that the protocol's own code made. */
export async function sendResponse (
  response: Response | undefined, reply: FastifyReply, exchange: Exchange, streams: EventStreams, hasEnd: boolean
): Promise<void> {
  if (response === undefined || exchange.gone.aborted) {
    reply.hijack()
    reply.raw.destroy()
    return
  }
  if (response.body === null || response.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
    const text = exchange.written.restored(namedFaults(await response.text()))
    for (const [name, value] of response.headers) void reply.header(name, value)
    await reply.code(response.status).serializer(String).send(text)
    return
  }
  const stream = hasEnd ? streams.openCall(reply) : streams.open(reply)
  exchange.stream = stream
  for await (const piece of response.body) {
    const frame = restored(bytesOf(piece), exchange)
    const refused = stream.refusalOf(frame.length)
    stream.send(refused === undefined ? frame : jsonFrame('message', [Buffer.from(JSON.stringify(rpcError(reply.request, described(refused))))]))
  }
  stream.end(Buffer.alloc(0))
}

/** The protocol's own code writes a message in one piece. */
function restored (piece: Buffer, { written }: Exchange): Buffer {
  if (written.isEmpty && piece.length > longestFault) return piece
  return Buffer.from(written.restored(namedFaultsOfEvent(piece.toString())))
}

function bytesOf (piece: unknown): Buffer {
  if (!(piece instanceof Uint8Array)) throw new Error('A piece of a stream is no bytes')
  return Buffer.from(piece)
}
