import { asError, isRecord, orElse } from '@toolyard/contract/terms'
import {
  isJSONRPCErrorResponse, isJSONRPCNotification, isJSONRPCRequest, isJSONRPCResultResponse, StreamableHTTPClientTransport,
  type JSONRPCMessage, type JSONRPCRequest, type RequestId
} from '@modelcontextprotocol/client'
import { complain, print } from '../terminal/terminal.ts'
import { unreachable } from './ask-service.ts'
import type { Target } from './target.ts'
import { KeptNumbers } from './bridge/kept-numbers.ts'
import { NamedHeaders } from './bridge/named-headers.ts'

/** Codes of answers that the bridge makes itself: the service could not be asked, and what came is no message. */
const notAsked = -32_000
const invalidRequest = -32_600

/**
 * Hands messages from stdin to the service and its answers to stdout, until stdin ends. What a message means is between the
 * client and the service, but for three things that HTTP says otherwise than stdio: which revision was agreed on in a
 * handshake, that a request of 2026 is cancelled by closing it, and headers for the arguments of a call of 2026.
 *
 * @returns whether stdin ended; false where it could not be read any more.
 */
export async function bridge (url: URL, target: Target): Promise<boolean> {
  const { apiKey } = target
  const numbers = new KeptNumbers()
  const named = new NamedHeaders(numbers)
  const show = (message: object): void => { print(numbers.restored(JSON.stringify(message))) }
  const http = new StreamableHTTPClientTransport(url, { fetch: numbers.fetch, requestInit: { redirect: 'error', headers: apiKey === undefined ? {} : { 'x-api-key': apiKey } } })
  const open = new Map<RequestId, { request: JSONRPCRequest, abort: AbortController }>()

  const answer = (message: JSONRPCMessage): void => {
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) {
      const { id } = message
      if (id !== undefined && id !== null) open.delete(id)
    }
    show(message)
  }
  const fail = (id: RequestId, problem: string): void => {
    if (open.has(id)) answer({ jsonrpc: '2.0', id, error: { code: notAsked, message: problem } })
  }

  http.onmessage = message => {
    const version = isJSONRPCResultResponse(message) ? message.result['protocolVersion'] : undefined
    if (typeof version === 'string') http.setProtocolVersion(version)
    named.hear(message)
    answer(message)
  }
  // fetch throws a TypeError where it reaches nothing, and says why in its cause.
  const says = (error: Error): string => {
    return (error instanceof TypeError && error.cause !== undefined ? unreachable(target, error) : error).message
  }
  http.onerror = error => { complain(says(error)) }
  const hand = (message: JSONRPCMessage): void => {
    const cancelled = isJSONRPCNotification(message) && message.method === 'notifications/cancelled'
      ? open.get(idIn(message.params?.['requestId']))
      : undefined
    if (cancelled !== undefined && isModern(cancelled.request)) {
      open.delete(cancelled.request.id)
      cancelled.abort.abort()
      return
    }
    const abort = new AbortController()
    const id = isJSONRPCRequest(message) ? message.id : undefined
    if (isJSONRPCRequest(message)) open.set(message.id, { request: message, abort })
    const onRequestStreamEnd = (): void => { if (id !== undefined) fail(id, 'The service ended its answer too early') }
    const headers = isJSONRPCRequest(message) && message.method === 'tools/call' && isModern(message) ? named.of(message.params) : {}
    http.send(message, { requestSignal: abort.signal, onRequestStreamEnd, headers }).catch((error: unknown) => {
      if (id !== undefined && open.has(id)) {
        answer(
          errorAnswer(error, id) ?? { jsonrpc: '2.0', id, error: { code: notAsked, message: says(asError(error)) } }
        )
      }
    })
  }
  await http.start()
  const isAtEnd = await readStdin(line => {
    const value = withoutNothing(readJson(numbers.marked(line)))
    if (isMessage(value)) hand(value)
    else if (value !== undefined) for (const refusal of refusals(value)) show(refusal)
  })
  // Who has closed stdin waits for no answer.
  open.clear()
  http.onerror = () => {}
  await http.terminateSession().catch(() => {})
  await http.close()
  return isAtEnd
}

/** Whether it could be read until its end. */
async function readStdin (onLine: (line: string) => void): Promise<boolean> {
  // A client that takes no answers any more has left.
  process.stdout.on('error', (error: Error) => { process.stdin.destroy(error) })
  try {
    await readLines(process.stdin, onLine)
    return true
  } catch (error) {
    complain(asError(error).message)
    return false
  }
}

/** Undefined for what is no JSON: lines of others are passed over. */
function readJson (line: string): unknown {
  return orElse<unknown, undefined>(() => JSON.parse(line), undefined)
}

/** Languages write null, or an empty list, for parameters that are left out; the service takes both everywhere else. */
function withoutNothing (value: unknown): unknown {
  if (!isRecord(value)) return value
  const { params, ...rest } = value
  if (isNothing(params)) return rest
  return isRecord(params) && isNothing(params['_meta']) ? { ...rest, params: { ...params, _meta: undefined } } : value
}

function isNothing (value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0)
}

function isMessage (value: unknown): value is JSONRPCMessage {
  return [isJSONRPCRequest, isJSONRPCNotification, isJSONRPCResultResponse, isJSONRPCErrorResponse].some(is => is(value))
}

/** The answers to what is no message: one for each request whose id can be read, so that nobody waits for it. */
function refusals (value: unknown): object[] {
  const message = Array.isArray(value)
    ? 'A line must be one message of JSON-RPC: send each message of a batch by itself'
    : 'A line must be one message of JSON-RPC 2.0: its id is a string or an integer, and its params are an object'
  const ids = [value].flat().filter(isRecord).filter(({ method }) => typeof method === 'string').map(({ id }) => id)
  const known = ids.filter(id => typeof id === 'string' || typeof id === 'number')
  return (known.length === 0 ? [null] : known).map(id => ({ jsonrpc: '2.0', id, error: { code: invalidRequest, message } }))
}

/** No request has an empty id. */
function idIn (value: unknown): RequestId {
  return typeof value === 'string' || typeof value === 'number' ? value : ''
}

/** A request that says all of itself. */
function isModern ({ params }: JSONRPCRequest): boolean {
  return typeof params?._meta?.['io.modelcontextprotocol/protocolVersion'] === 'string'
}

function errorAnswer (error: unknown, id: RequestId): JSONRPCMessage | undefined {
  const data = isRecord(error) ? error['data'] : undefined
  const text = isRecord(data) ? data['text'] : undefined
  if (typeof text !== 'string' || !text.startsWith('{')) return undefined
  try {
    const body: unknown = JSON.parse(text)
    const fault = isRecord(body) && isRecord(body['error']) ? body['error'] : {}
    const { code, message } = fault
    return typeof code === 'number' && typeof message === 'string' ? { jsonrpc: '2.0', id, error: { ...fault, code, message } } : undefined
  } catch {
    return undefined
  }
}

/** The most that a line may have, in bytes; what is longer would fill the memory. */
const longestLine = 10 * 1_048_576

const lineEnd = 0x0a

/**
 * Reads a stream to its end and hands on each of its lines, without its end. What follows the last line end is no line.
 *
 * @throws what the stream throws, and for a line that is too long
 */
async function readLines (stream: AsyncIterable<Uint8Array>, onLine: (line: string) => void): Promise<void> {
  let begun: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stream) {
    let start = 0
    for (let end = chunk.indexOf(lineEnd); end !== -1; end = chunk.indexOf(lineEnd, start)) {
      onLine(Buffer.concat([...begun, chunk.subarray(start, end)]).toString())
      begun = []
      bytes = 0
      start = end + 1
    }
    begun.push(chunk.subarray(start))
    bytes += chunk.length - start
    if (bytes > longestLine) throw new Error(`a line of stdin is longer than ${longestLine} bytes`)
  }
}
