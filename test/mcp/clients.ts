import { Client, StreamableHTTPClientTransport, type ClientOptions } from '@modelcontextprotocol/client'
import type { Cleanup } from '../support/cleanup.ts'

/** The two kinds of clients: those that begin with a handshake, and those whose every request says all. */
export const eras = ['2025-11-25', '2026-07-28'] as const
export type Era = typeof eras[number]

/** Connects the SDK's own client; the test's end closes it. */
export async function connect (t: Cleanup, address: string, key: string, era: Era, options: ClientOptions = {}, query = ''): Promise<{
  client: Client, transport: StreamableHTTPClientTransport
}> {
  const client = new Client(
    { name: 'test', version: '1.0.0' }, { ...options, versionNegotiation: { mode: era === '2026-07-28' ? { pin: era } : 'legacy' } }
  )
  const transport = new StreamableHTTPClientTransport(new URL(`${address}/mcp${query}`), { requestInit: { headers: { 'x-api-key': key } } })
  await client.connect(transport)
  t.teardown(() => client.close())
  return { client, transport }
}

/** Of a raw request of 2026, about itself. */
export const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {}
}

export function textAt (result: { content: unknown }, index = 0): string {
  return (result.content as Array<{ text?: string }>)[index]?.text ?? ''
}

export interface RpcAnswer {
  status: number
  headers: Headers
  text: string
  /** The last message of the answer. */
  body: { result?: Record<string, unknown>, error?: { code: number, message: string, data?: Record<string, unknown> }, id?: unknown }
}

/** How a raw request differs from one of 2026 that is as it should be. */
export interface RpcOptions {
  key?: string
  headers?: Record<string, string | undefined>
  /** In place of what the request says of itself. */
  meta?: Record<string, unknown>
  path?: string
  signal?: AbortSignal
}

/** Sends one raw request of 2026, with the headers that belong to it. */
export async function rpc (
  address: string,
  method: string,
  params: Record<string,
    unknown>,
  { key, headers, meta: about = meta, path = '/mcp', signal }: RpcOptions = {}
): Promise<RpcAnswer> {
  const name = params['name'] ?? params['taskId'] ?? params['uri']
  const all = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(
      typeof name === 'string' ? { 'mcp-name': name } : {}
    ),
    ...(key === undefined ? {} : { 'x-api-key': key }),
    ...headers
  }
  return await post(`${address}${path}`, { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: about } }, all, signal)
}

/** Posts a body; a text goes as it is. */
export async function post (
  url: string, body: unknown, headers: Record<string, string | undefined> = {}, signal?: AbortSignal
): Promise<RpcAnswer> {
  const all = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers }
  const response = await fetch(url, {
    method: 'POST',
    headers: Object.fromEntries(Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined)),
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal === undefined ? {} : { signal })
  })
  const text = await response.text()
  const last = text.split('\n').filter(line => line.startsWith('data: ')).at(-1)?.slice(6) ?? text
  return {
    status: response.status, headers: response.headers, text, body: (last.startsWith('{') ? JSON.parse(last) : {}) as RpcAnswer['body']
  }
}

/** The handshake of a client of 2025. */
export const initialize = {
  jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
}
