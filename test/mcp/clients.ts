import { Client, StreamableHTTPClientTransport, type ClientOptions } from '@modelcontextprotocol/client'
import type { Cleanup } from '../support/cleanup.ts'

/** The two kinds of clients: those that begin with a handshake, and those whose every request says all. */
export const eras = ['2025-11-25', '2026-07-28'] as const
export type Era = typeof eras[number]

/** Connects the SDK's own client; the test's end closes it. */
export async function connect (t: Cleanup, address: string, key: string, era: Era, options: ClientOptions = {}): Promise<{ client: Client, transport: StreamableHTTPClientTransport }> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { ...options, versionNegotiation: { mode: era === '2026-07-28' ? { pin: era } : 'legacy' } })
  const transport = new StreamableHTTPClientTransport(new URL(`${address}/mcp`), { requestInit: { headers: { 'x-api-key': key } } })
  await client.connect(transport)
  t.teardown(() => client.close())
  return { client, transport }
}

/** What a raw request of 2026 says of itself. */
export const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {}
}

/** The text of a result's content block. */
export function textAt (result: { content: unknown }, index = 0): string {
  return (result.content as Array<{ text?: string }>)[index]?.text ?? ''
}
