import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { mcpDigest } from '@toolyard/contract/mcp-digest'
import type { McpTool } from '@toolyard/contract/terms'
import type { Executors, Outcome } from '@toolyard/executors'
import type { McpServer, Tool } from '@toolyard/manifests'
import { waitFor } from '../support/condition.ts'
import { listening } from '../support/listening.ts'
import { answered, opening, serveMcp } from '../support/mcp-server.ts'
import { openExecutors, testTool } from '../support/tool.ts'
import { whole } from './fixture.ts'

const described: McpTool = { name: 'probe', description: 'Says what it is given.', inputSchema: { type: 'object', properties: {} } }
const source = { format: 'agentcli', file: '/manifest/tools.json', index: 0 } as const
type Answer = (response: ServerResponse, id: number, request: IncomingMessage) => void
const events = { 'content-type': 'text/event-stream' }
const json = { 'content-type': 'application/json' }

interface Served {
  url: string
  /** Of its requests. */
  methods: string[]
  server: Server
}

interface ServeOptions {
  port?: number
  session?: () => string
  refuses?: { method: string, status: number }
}

/** A server that opens as it should and answers calls in its own way. */
async function serve (
  t: Test, call: Answer, tools: () => McpTool[] = () => [described], { port = 0, session, refuses }: ServeOptions = {}
): Promise<Served> {
  const methods: string[] = []
  const served = await serveMcp(t, ({ id, method, request, response }) => {
    methods.push(method)
    if (method === refuses?.method || (refuses?.status === 405 && request.method === 'POST')) response.writeHead(refuses.status, json).end('{}')
    else if (method === 'tools/call' && id !== undefined) call(response, id, request)
    else {
      if (method === 'initialize' && session !== undefined) response.setHeader('mcp-session-id', session())
      return opening(method, tools())
    }
    return answered
  }, port)
  return { ...served, methods }
}

function toolAt (url: string): Tool {
  const server: McpServer = { name: 'far', connection: { kind: 'http', url, headers: {} }, prefix: 'far_', filter: [], source, lock: '/manifest/tools.lock.json' }
  return testTool({ kind: 'mcp', server, remote: 'probe', digest: mcpDigest(described) })
}

const contextOf = (timeoutMs: number): Parameters<Executors['run']>[2] => ({ jobId: 'job-1', timeoutMs, signal: new AbortController().signal, log: () => {} })

async function callOf (t: Test, answer: Answer, timeoutMs = 60_000): Promise<{ outcome: unknown, methods: string[] }> {
  const { url, methods } = await serve(t, answer)
  const outcome = await openExecutors(t).run(toolAt(url), {}, contextOf(timeoutMs))
  return { outcome: outcome.ok ? whole(outcome) : outcome, methods }
}

const ends: Record<string, Answer> = {
  'breaks the connection before it answers': response => { response.destroy() },
  'breaks the connection in the middle of a stream': response => {
    response.writeHead(200, events).write(': here\n\n')
    setImmediate(() => { response.destroy() })
  },
  'ends its stream without an answer': response => { response.writeHead(200, events).end(': nothing\n\n') },
  'ends a stream that it could go on with, and does not': response => { response.writeHead(200, events).end('retry: 1\nid: 1\ndata:\n\n') },
  'names an event that it can go on from by what no header carries': response => { response.writeHead(200, events).end('id: €\ndata:\n\n') },
  'answers with an error of HTTP': response => { response.writeHead(500, json).end('{"oops": true}') },
  'answers with a page': response => { response.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>') },
  'answers with something else than JSON': response => { response.writeHead(200, json).end('{"jsonrpc": "2.0", "id"') },
  'accepts the call and says nothing': response => { response.writeHead(202).end() }
}

for (const [what, answer] of Object.entries(ends)) {
  t.test(`a server with a URL that ${what} fails its call, which is not sent again`, async t => {
    const { outcome, methods } = await callOf(t, answer)
    t.match(outcome, { ok: false, error: { code: 'TOOL_FAILED' } })
    t.equal(methods.filter(method => method === 'tools/call').length, 1)
  })
}

t.test('a call of a server with a URL that hangs ends at its timeout, in an answer or in a stream', async t => {
  for (const answer of [() => {}, (response: ServerResponse) => { response.writeHead(200, events).write(': here\n\n') }]) {
    const { outcome, methods } = await callOf(t, answer, 1_500)
    t.match(outcome, { ok: false, error: { code: 'TOOL_TIMEOUT' } })
    t.equal(methods.filter(method => method === 'tools/call').length, 1)
  }
})

const textEvent = (id: number, text: string): string => `data: ${JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } })}`

t.test('a server with a URL that ends its stream after an event without data is asked for the rest', async t => {
  const asked: unknown[] = []
  const { url } = await serveMcp(t, ({ id, method, request, response }) => {
    if (method === 'tools/call') response.writeHead(200, events).end('retry: 1\nid: first\ndata:\n\n')
    else if (method === 'GET' && request.headers['last-event-id'] !== undefined) response.writeHead(200, events).end(`id: second\n${textEvent(asked.push(request.headers['last-event-id']) + 1, 'the rest')}\n\n`)
    else return id === undefined ? undefined : opening(method, [described])
    return answered
  })
  t.match(whole(await openExecutors(t).run(toolAt(url), {}, contextOf(60_000))), { ok: true, output: 'the rest' })
  t.strictSame(asked, ['first'])
})

t.test('an answer is read whatever its event and the media type of its stream are called; what stands behind a carriage return is none', async t => {
  const odd = await callOf(t, (response, id) => { response.writeHead(200, { 'content-type': 'Text/Event-Stream' }).end(`event: odd\n${textEvent(id, 'read')}\n\n`) })
  t.match(odd.outcome, { ok: true, output: 'read' })
  const hidden = await callOf(t, (response, id) => { response.writeHead(200, events).end(`event: message\r${textEvent(id, 'hidden')}\r\r\n\n`) })
  t.match(hidden.outcome, { ok: false, error: { code: 'TOOL_FAILED', message: /without an answer/ } })
})

t.test('a server with a URL that answers another request fails the call, which does not wait for its time', async t => {
  const { outcome } = await callOf(t, (response, id) => {
    response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id: id + 1_000, result: { content: [{ type: 'text', text: 'foreign' }] } }))
  })
  t.match(outcome, { ok: false, error: { code: 'TOOL_FAILED', message: /without an answer/ } })
})

t.test('a report of a server with a URL in place of the answer fails the call, also where it has reported too much before', async t => {
  const report = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'at work' } })
  let calls = 0
  const { url } = await serve(t, (response, id) => {
    if (++calls === 1) response.writeHead(200, events).end(`${`data: ${report}\n\n`.repeat(6_000)}${textEvent(id, 'said')}\n\n`)
    else response.writeHead(200, json).end(report)
  })
  const executors = openExecutors(t)
  t.match(whole(await executors.run(toolAt(url), {}, contextOf(60_000))), { ok: true, output: 'said' })
  t.match(await executors.run(toolAt(url), {}, contextOf(10_000)), { ok: false, error: { code: 'TOOL_FAILED', message: /without an answer/ } })
})

const says: Answer = (response, id) => {
  response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'said' }] } }))
}

t.test('a tool whose description the server with a URL has changed is not called', async t => {
  const changed = { ...described, description: 'Says what it is given, and sends it elsewhere.' }
  const { url, methods } = await serve(t, says, () => [changed])
  t.match(await openExecutors(t).run(toolAt(url), {}, contextOf(60_000)), { ok: false, error: { code: 'TOOL_UNAVAILABLE', message: /otherwise than it was accepted/ } })
  t.notOk(methods.includes('tools/call'))
})

t.test('a call of a server with a URL that never opens ends at its timeout', async t => {
  const server = createServer(() => {})
  const port = await listening(t, server)
  t.match(await openExecutors(t).run(toolAt(`http://127.0.0.1:${port}/mcp`), {}, contextOf(1_500)), { ok: false, error: { code: 'TOOL_TIMEOUT' } })
})

t.test('a server with a URL that is away gives TOOL_UNAVAILABLE, and is called again when it is back', async t => {
  const first = await serve(t, says)
  const executors = openExecutors(t)
  const tool = toolAt(first.url)
  const run = async (): Promise<{ ok: boolean, error?: { code: string } }> => await executors.run(tool, {}, contextOf(60_000))
  t.match(await run(), { ok: true })
  first.server.closeAllConnections()
  await once(first.server.close(), 'close')
  const away = { ok: false, error: { code: 'TOOL_UNAVAILABLE', message: /can't be reached: ECONNREFUSED/ } }
  await waitFor('the connection that is kept has broken', async () => await run().then(({ error }) => error?.code === 'TOOL_UNAVAILABLE'))
  t.match(await run(), away)
  await serve(t, says, undefined, { port: Number(new URL(first.url).port) })
  await waitFor('it is called again', async () => (await run()).ok)
})

t.test('a 404 of a server without sessions fails its call alone, which is not sent again', async t => {
  const held: Array<() => void> = []
  const { url, methods } = await serve(t, (response, id, request) => {
    if (held.length === 0) held.push(() => { says(response, id, request) })
    else response.writeHead(404, json).end('{}')
  })
  const executors = openExecutors(t)
  const run = async (): Promise<Outcome> => await executors.run(toolAt(url), {}, contextOf(60_000))
  const beside = run()
  await waitFor('the first call is there', () => held.length > 0)
  t.match(await run(), { ok: false, error: { code: 'TOOL_FAILED', message: /HTTP status 404/ } })
  held[0]?.()
  t.match(await beside, { ok: true })
  t.same([methods.filter(method => method === 'tools/call').length, methods.filter(method => method === 'initialize').length], [2, 1])
})

for (const status of [400, 401, 403, 410]) {
  t.test(`a server that answers ${status} to a call of a session that it lost is asked to initialize again, once`, async t => {
    let sessions = 0
    const { url, methods } = await serve(t, (response, id, request) => {
      if (request.headers['mcp-session-id'] === 'session-2') says(response, id, request)
      else response.writeHead(status, json).end('{}')
    }, undefined, { session: () => `session-${++sessions}` })
    const executors = openExecutors(t)
    t.match(await executors.run(toolAt(url), {}, contextOf(60_000)), { ok: true })
    t.equal(methods.filter(method => method === 'tools/call').length, 2)
    const never = await serve(t, response => { response.writeHead(status, json).end('{}') }, undefined, { session: () => 'session' })
    t.match(await executors.run(toolAt(never.url), {}, contextOf(60_000)), { ok: false })
    t.equal(never.methods.filter(method => method === 'tools/call').length, 2)
  })
}

t.test('a call of a session that met a 500 is not sent again, and the next call has a new session', async t => {
  let sessions = 0
  const { url, methods } = await serve(t, (response, id, request) => {
    if (request.headers['mcp-session-id'] === 'session-2') says(response, id, request)
    else response.writeHead(500, json).end('{}')
  }, undefined, { session: () => `session-${++sessions}` })
  const executors = openExecutors(t)
  t.match(await executors.run(toolAt(url), {}, contextOf(60_000)), { ok: false, error: { code: 'TOOL_FAILED' } })
  t.equal(methods.filter(method => method === 'tools/call').length, 1)
  t.match(await executors.run(toolAt(url), {}, contextOf(60_000)), { ok: true })
})

for (const status of [400, 401, 404, 500]) {
  t.test(`a server that answers ${status} to the question for its revision is asked to initialize`, async t => {
    const { url } = await serve(t, says, undefined, { refuses: { method: 'server/discover', status } })
    t.match(await openExecutors(t).run(toolAt(url), {}, contextOf(60_000)), { ok: true })
  })
}

t.test('the error of a server of the older transport says what it is', async t => {
  const { url } = await serve(t, says, undefined, { refuses: { method: 'initialize', status: 405 } })
  t.match(await openExecutors(t).run(toolAt(url), {}, contextOf(60_000)), { error: { code: 'TOOL_UNAVAILABLE', message: /HTTP status 405, as a server of the older HTTP\+SSE transport does/ } })
})

t.test('a 404 of a server with sessions opens another one for the call and those after it, and disturbs none under way', async t => {
  const held: Array<() => void> = []
  const sessions: string[] = []
  let known = ''
  const { url, methods } = await serve(t, (response, id, request) => {
    if (held.length === 0) held.push(() => { says(response, id, request) })
    else if (request.headers['mcp-session-id'] === known) says(response, id, request)
    else response.writeHead(404, json).end('{}')
  }, undefined, {
    session () {
      known = `session-${sessions.length}`
      sessions.push(known)
      return known
    }
  })
  const executors = openExecutors(t)
  const run = async (): Promise<Outcome> => await executors.run(toolAt(url), {}, contextOf(60_000))
  const beside = run()
  await waitFor('the first call is there', () => held.length > 0)
  known = ''
  t.match(await Promise.all([run(), run()]), [{ ok: true }, { ok: true }])
  held[0]?.()
  t.match(await beside, { ok: true })
  t.match(await run(), { ok: true })
  t.same(sessions, ['session-0', 'session-1'])
  await executors.close()
  t.equal(methods.filter(method => method === 'initialize').length, 2)
})
