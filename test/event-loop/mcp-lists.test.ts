import t from 'tap'
import { open } from '../executors/mcp-fixture.ts'
import { leavesLoopFree } from './longest-turn.ts'

const parts = Array.from({ length: 500_000 }, () => ({}))

t.test('promise 10: no list of tools, and nothing else that an MCP server says, holds up a worker', async t => {
  // A module that is loaded once counts elsewhere.
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

t.test('promise 10: no field beside those that a message has, and no list of numbers in it, holds up a worker', async t => {
  const fields = Object.fromEntries(Array.from({ length: 300_000 }, (_, at) => [`k${at}`, 1]))
  const numbers = Array.from({ length: 1_900_000 }, () => 0)
  const content = [{ type: 'text', text: 'x' }]
  const answers: Record<string, object> = {
    'the result of a call': { result: { content, ...fields } },
    '_meta of a result': { result: { content, _meta: fields } },
    'the type of a result': { result: { content, resultType: fields } },
    'an answer': { result: { content }, ...fields },
    'an error': { error: { code: 1, message: 'x', ...fields } }
  }
  const noticed: Record<string, object> = {
    'a notification': { method: 'notifications/message', ...fields },
    'numbers of a notification': { method: 'notifications/message', params: { level: 'info', data: numbers } },
    'a request': { id: 'q', method: 'ping', ...fields },
    'the id of a request': { id: fields, method: 'ping' },
    'the id of an answer': { id: fields, result: {} },
    'the id of an error': { id: numbers, error: { code: 1, message: 'x' } },
    'a method': { id: 'q', method: fields },
    'an answer to nobody': { id: null, ...fields }
  }
  const calls = open(t, [''])
  await calls.call('echo', { text: 'x' })
  for (const [what, message] of Object.entries(answers)) {
    const line = JSON.stringify({ jsonrpc: '2.0', id: 'ID', ...message }).replace('"ID"', 'ID')
    await leavesLoopFree(t, `300,000 fields beside those of ${what}`, () => calls.call('line', { line }))
  }
  for (const [what, message] of Object.entries(noticed)) {
    const line = `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"x"}]}}`
    // A few of these in a row end a connection.
    const other = open(t, [''])
    await other.call('echo', { text: 'x' })
    await leavesLoopFree(t, `300,000 fields in ${what}`, async () => { t.match(await other.call('line', { line }), { ok: true, output: 'x' }) })
  }
})

t.test('promise 10: many servers that say something at the same moment hold up no worker', async t => {
  const calls = open(t, [''])
  const sessions = Array.from({ length: 24 }, (_, at) => ({ tenant: 'acme', session: { id: `session-${at}`, dir: calls.fixture.workspace } }))
  const call = async (count: number): Promise<void> => {
    await Promise.all(sessions.map(async session => { t.match(await calls.call('strays', { count, bytes: 0, objects: 20_000 }, session), { ok: true, output: 'sent' }) }))
  }
  await call(0)
  await leavesLoopFree(t, '40 messages of 60 KB from each of 24 servers', async () => { await call(40) })
})
