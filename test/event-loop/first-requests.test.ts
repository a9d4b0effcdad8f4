import t from 'tap'
import { createClient, type Client } from '../support/client.ts'
import { createService, testKeys } from '../support/service.ts'
import { firstTurnIsShort, turnEnvironment } from './service-turns.ts'

const env = turnEnvironment()
const service = await createService(t, { workers: 0, env })
const mcp = (method: string, version: string, params: object = {}) => ({
  headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': version, 'mcp-method': method },
  body: { jsonrpc: '2.0', id: 1, method, params }
})
const about = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} } }
/** First uses of an API, some of them with code that it loads only then. */
const requests: Record<string, (client: Client) => Promise<{ status: number }>> = {
  'a client of MCP of 2025': client => client.request('/mcp', mcp('tools/list', '2025-11-25')),
  'a client of MCP of 2026': client => client.request('/mcp', mcp('tools/list', '2026-07-28', about)),
  'the page /docs': client => client.request('/docs'),
  'the document of OpenAPI': client => client.request('/openapi.json'),
  'the dashboard': client => client.request('/dashboard/'),
  'the list of tools': client => client.request('/v1/agent-tools?strict=true')
}

for (const [what, request] of Object.entries(requests)) {
  t.test(`promise 10: the first request of ${what} holds up no other one`, async t => {
    await firstTurnIsShort(t, what, { start: () => service.startApi(), env }, async ({ address }) => {
      t.equal((await request(createClient(address, testKeys.admin))).status, 200)
    })
  })
}
