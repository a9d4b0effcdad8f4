import t from 'tap'
import { open } from '../executors/mcp-fixture.ts'
import { leavesLoopFree } from './longest-turn.ts'

const parts = Array.from({ length: 500_000 }, () => ({}))

t.test('promise 10: no list of tools, and nothing else that an MCP server says, holds up a worker', async t => {
  // What is loaded once counts elsewhere.
  t.match(await open(t, ['']).call('echo', { text: 'x' }), { output: 'x' })
  await leavesLoopFree(t, 'a tool of 60,000 properties', async () => { t.match(await open(t, ['wide']).call('echo', { text: 'x' }), { output: 'x' }) })
  await leavesLoopFree(t, 'a list of 20,000 tools', async () => {
    t.match(await open(t, ['many']).call('echo'), { error: { code: 'TOOL_UNAVAILABLE', message: /lists more than 1000 tools/ } })
  })
  const said: Record<string, object> = {
    'a notification': { method: 'notifications/message', params: { level: 'info', data: parts } },
    'a question': { id: 'q', method: 'elicitation/create', params: { message: 'x', requestedSchema: { type: 'object', properties: parts } } }
  }
  for (const [what, message] of Object.entries(said)) {
    const line = `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"x"}]}}`
    const calls = open(t, [''])
    await calls.call('echo', { text: 'x' })
    await leavesLoopFree(t, `${what} of 500,000 objects`, async () => { t.match(await calls.call('line', { line }), { ok: true, output: 'x' }) })
  }
})
