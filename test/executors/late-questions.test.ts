import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { mcpDigest } from '@toolyard/contract/mcp-digest'
import type { McpTool } from '@toolyard/contract/terms'
import type { Outcome } from '@toolyard/executors'
import type { McpConnection } from '@toolyard/manifests'
import { waitFor } from '../support/condition.ts'
import { answered, opening, serveMcp } from '../support/mcp-server.ts'
import { openExecutors, testTool } from '../support/tool.ts'

/*
 * A server of 2025 that asks something more for a call which was given up. Nothing tells which call it means: whoever calls next must
 * not be asked, nor have its run ended by that.
 */

const described: McpTool = { name: 'probe', description: 'Asks.', inputSchema: { type: 'object', properties: {} } }
const source = { format: 'agentcli', file: '/manifest/tools.json', index: 0 } as const

type Run = (who: string, options?: { timeoutMs?: number, signal?: AbortSignal }) => Promise<Outcome>

function callerOf (t: Test, connection: McpConnection): Run {
  const server = { name: 'far', asks: true, connection, prefix: 'far_', filter: [], source, lock: '/manifest/tools.lock.json' }
  const executors = openExecutors(t)
  const tool = testTool({ kind: 'mcp', server, remote: 'probe', digest: mcpDigest(described) }, { asks: true })
  return async (who, { timeoutMs = 60_000, signal = new AbortController().signal } = {}) => (
    await executors.run(tool, { who }, { jobId: who, timeoutMs, signal, log: () => {} })
  )
}

const textsIn = (outcome: Outcome): unknown => outcome.ok ? [] : outcome.ask?.questions.map(({ text }) => text)
const question = (id: string, text: string): string => JSON.stringify({ jsonrpc: '2.0', id, method: 'elicitation/create', params: { message: text, requestedSchema: { type: 'object', properties: {} } } })
const result = (id: number): string => JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'said' }] } })

/** A server that goes on with calls that were given up: it asks in their streams when the next one comes. */
async function serveLate (t: Test): Promise<{ run: Run, heard: string[] }> {
  const heard: string[] = []
  const streams = new Set<ServerResponse>()
  const { url } = await serveMcp(t, ({ id, method, params, response }) => {
    heard.push(method)
    if (method !== 'tools/call' || id === undefined) return method === 'ping' ? {} : opening(method, [described])
    const { who } = params['arguments'] as { who: string }
    heard.push(who)
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': here\n\n')
    if (who === 'asks') response.write(`data: ${question('q1', 'one')}\n\n`)
    if (who === 'next') {
      for (const stream of streams) stream.write(`data: ${question('q2', 'late')}\n\n`)
      // One that is asked something ends before it is answered.
      void sleep(500).then(() => { response.end(`data: ${result(id)}\n\n`) })
    } else streams.add(response)
    return answered
  })
  return { run: callerOf(t, { kind: 'http', url, headers: {} }), heard }
}

t.test('what a server over HTTP asks late, for a call that has asked already, is not asked of the next call', async t => {
  const { run, heard } = await serveLate(t)
  const first = run('asks')
  await waitFor('the first call runs', () => heard.includes('asks'))
  const next = run('next')
  t.strictSame(textsIn(await first), ['MCP server "far" asks: one'])
  t.match(await next, { ok: true })
  t.match(await run('next'), { ok: true })
  await waitFor('the server hears that the first one is cancelled', () => heard.includes('notifications/cancelled'))
  t.equal(heard.filter(method => method === 'initialize').length, 1)
})

t.test('what a server over HTTP asks late, for a call that was cancelled or whose time is over, is not asked of the next call', async t => {
  const { run, heard } = await serveLate(t)
  const cancel = new AbortController()
  const cancelled = run('hangs', { signal: cancel.signal })
  await waitFor('the first call runs', () => heard.includes('hangs'))
  cancel.abort()
  t.match(await cancelled, { ok: false })
  t.match(await run('next'), { ok: true })
  t.match(await run('hangs', { timeoutMs: 1_000 }), { ok: false, error: { code: 'TOOL_TIMEOUT' } })
  t.match(await run('next'), { ok: true })
  await waitFor('the server hears of both', () => heard.filter(method => method === 'notifications/cancelled').length === 2)
})

const program = `
const send = message => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
const ask = (id, message) => send({ id, method: 'elicitation/create', params: { message, requestedSchema: { type: 'object', properties: {} } } })
let calls = 0
const results = {
  initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } },
  'tools/list': { tools: [${JSON.stringify(described)}] },
  ping: {}
}
require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line)
  if (method === 'notifications/cancelled') ask('q3', 'three')
  if (id === undefined || method === undefined) return
  if (method !== 'tools/call') return send(results[method] === undefined ? { id, error: { code: -32601, message: 'no' } } : { id, result: results[method] })
  calls += 1
  if (params.arguments.who === 'ends') process.exit(3)
  if (params.arguments.who === 'asks') {
    ask('q1', 'one')
    ask('q2', 'two')
  } else setTimeout(() => send({ id, result: { content: [{ type: 'text', text: String(calls) }] } }), 200)
})
`
t.test('what a program asks at the same time, or when it hears that its call is cancelled, is not asked of the next call; it goes on', async t => {
  const run = callerOf(t, { kind: 'stdio', program: process.execPath, args: ['-e', program], env: {} })
  const [first, ...others] = await Promise.all([run('asks'), run('next'), run('next')])
  t.strictSame(textsIn(first), ['MCP server "far" asks: one'])
  t.match(others, [{ ok: true, output: '2' }, { ok: true, output: '3' }])
  t.match(await run('next'), { ok: true, output: '4' })
})

t.test('a call that waits for its turn when its program ends has not reached it, and says so', async t => {
  const run = callerOf(t, { kind: 'stdio', program: process.execPath, args: ['-e', program], env: {} })
  const [first, next] = await Promise.all([run('ends'), run('next')])
  t.match(first, { ok: false, error: { code: 'TOOL_FAILED', message: /ended while it ran the call: .*exit status 3/ } })
  t.match(next, { ok: false, error: { code: 'TOOL_UNAVAILABLE', message: /can't be used: .*exit status 3/ } })
  t.match(await run('next'), { ok: true })
})
