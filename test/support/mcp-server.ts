import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import type { McpTool } from '@toolyard/contract/terms'
import type { Cleanup } from './cleanup.ts'
import { listening } from './listening.ts'

/** A message of MCP as it came, and what its answer is written to. */
interface AskedOfMcp {
  /** Undefined for one that wants no answer. */
  id: number | undefined
  method: string
  params: Record<string, unknown>
  body: string
  request: IncomingMessage
  response: ServerResponse
}

export const answered = Symbol('answered')

/** Serves MCP over HTTP. @param resultOf gives a result, undefined for a method that isn't there, and `answered` where it has answered. */
export async function serveMcp (
  cleanup: Cleanup, resultOf: (asked: AskedOfMcp) => object | undefined | typeof answered, port = 0
): Promise<{ url: string, server: Server }> {
  const server = createServer((request, response) => {
    void textOf(request).then(body => {
      const { id, method = request.method ?? '', params = {} } = (body === '' ? {} : JSON.parse(body)) as Partial<AskedOfMcp>
      const result = resultOf({ id, method, params, body, request, response })
      if (result === answered) return
      const said = result === undefined ? { error: { code: -32_601, message: 'Method not found' } } : { result }
      if (id === undefined) response.writeHead(request.method === 'POST' ? 202 : 405).end()
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...said }))
    }, () => { response.destroy() })
  })
  return { url: `http://127.0.0.1:${await listening(cleanup, server, '127.0.0.1', port)}/mcp`, server }
}

/** What a server of 2025 answers to who opens a connection; undefined for other methods. */
export function opening (method: string, tools: readonly McpTool[]): object | undefined {
  if (method === 'initialize') return { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'far', version: '1' } }
  return method === 'tools/list' ? { tools } : undefined
}
