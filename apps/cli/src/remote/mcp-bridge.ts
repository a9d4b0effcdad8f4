import { asError, isRecord } from '@toolyard/contract/terms'
import {
  isJSONRPCErrorResponse, isJSONRPCNotification, isJSONRPCRequest, isJSONRPCResultResponse, StreamableHTTPClientTransport,
  type JSONRPCMessage, type JSONRPCRequest, type RequestId
} from '@modelcontextprotocol/client'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { complain, print } from '../terminal/terminal.ts'

/** Codes of answers that the bridge makes itself: the service could not be asked, and what came is no message. */
const unreachable = -32_000
const invalidRequest = -32_600

/**
 * Hands messages from stdin to the service and its answers to stdout, until stdin ends. What a message means is between the
 * client and the service, but for two things that HTTP says otherwise than stdio: which revision was agreed on in a
 * handshake, and that a request of 2026 is cancelled by closing it.
 *
 * @returns whether stdin ended; false where it could not be read any more.
 */
export async function bridge (url: URL, apiKey: string | undefined): Promise<boolean> {
  const stdio = new StdioServerTransport()
  const http = new StreamableHTTPClientTransport(url, { requestInit: { headers: apiKey === undefined ? {} : { 'x-api-key': apiKey } } })
  const open = new Map<RequestId, { request: JSONRPCRequest, abort: AbortController }>()

  const answer = (message: JSONRPCMessage): void => {
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) {
      const { id } = message
      if (id !== undefined && id !== null) open.delete(id)
    }
    // A client that has closed stdin doesn't wait for what still comes, such as the end of a call that it had cancelled.
    stdio.send(message).catch(() => {})
  }
  const fail = (id: RequestId, problem: string): void => {
    if (open.has(id)) answer({ jsonrpc: '2.0', id, error: { code: unreachable, message: problem } })
  }

  http.onmessage = message => {
    const version = isJSONRPCResultResponse(message) ? message.result['protocolVersion'] : undefined
    if (typeof version === 'string') http.setProtocolVersion(version)
    answer(message)
  }
  http.onerror = error => { complain(error.message) }
  // The transport reads lines of JSON alone, and passes over others. A batch is of none of the revisions of 2025-06-18 and later.
  stdio.onerror = error => {
    if (error.name !== 'ZodError') {
      complain(error.message)
      return
    }
    const message = 'A line must be one message of JSON-RPC: send each message of a batch by itself'
    print(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: invalidRequest, message } }))
  }

  stdio.onmessage = message => {
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
    http.send(message, { requestSignal: abort.signal, onRequestStreamEnd }).catch((error: unknown) => {
      if (id !== undefined && open.has(id)) {
        answer(
          errorAnswer(error, id) ?? { jsonrpc: '2.0', id, error: { code: unreachable, message: asError(error).message } }
        )
      }
    })
  }
  const closed = new Promise<void>(resolve => { stdio.onclose = resolve })
  await http.start()
  await stdio.start()
  await closed
  await http.terminateSession().catch(() => {})
  await http.close()
  return process.stdin.readableEnded
}

/** No request has an empty id. */
function idIn (value: unknown): RequestId {
  return typeof value === 'string' || typeof value === 'number' ? value : ''
}

/** A request that says all of itself. */
function isModern ({ params }: JSONRPCRequest): boolean {
  return typeof params?._meta?.['io.modelcontextprotocol/protocolVersion'] === 'string'
}

/** The error that the service answered with, as the answer to this request. */
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
