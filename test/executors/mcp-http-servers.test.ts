import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { mcpDigest } from '@toolyard/contract/mcp-digest'
import type { McpTool } from '@toolyard/contract/terms'
import { createExecutors, type Outcome } from '@toolyard/executors'
import type { McpServer } from '@toolyard/manifests'
import { leavesLoopFree } from '../event-loop/longest-turn.ts'
import { makeCertificates } from '../support/certificates.ts'
import { bytesInUse } from '../support/garbage.ts'
import { listening } from '../support/listening.ts'
import { answered, opening, serveMcp } from '../support/mcp-server.ts'
import { testTool } from '../support/tool.ts'
import { whole } from './fixture.ts'

t.setTimeout(120_000)

const described: McpTool = { name: 'probe', description: 'Says what it is given.', inputSchema: { type: 'object', properties: {} } }
const source = { format: 'agentcli', file: '/manifest/tools.json', index: 0 } as const

/** Answers what opens a connection; calls are answered by `answer`. */
async function serve (t: Test, answer: (response: ServerResponse) => void): Promise<string> {
  const { url } = await serveMcp(t, ({ method, response }) => {
    if (method !== 'tools/call') return opening(method, [described])
    answer(response)
    return answered
  })
  return url
}

function caller (t: Test, url: Extract<McpServer['connection'], { kind: 'http' }>['url'], env: NodeJS.ProcessEnv = {}): () => Promise<Outcome> {
  const server: McpServer = { name: 'far', connection: { kind: 'http', url, headers: {} }, prefix: 'far_', filter: [], source, lock: '/manifest/tools.lock.json' }
  const tool = testTool({ kind: 'mcp', server, remote: 'probe', digest: mcpDigest(described) })
  return async () => {
    // A server that was ended rests before it is opened again: each run has a worker of its own.
    const executors = createExecutors({
      workspaceDir: '/', env, maxOutputBytes: 100_000, audit: { record: () => {}, flush: async () => {} }, http: { privateHosts: ['127.0.0.1'] }
    })
    try {
      return whole(await executors.run(tool, {}, { jobId: 'job-1', timeoutMs: 60_000, signal: new AbortController().signal, log: () => {} }))
    } finally {
      await executors.close()
    }
  }
}

const floods = {
  'empty lines': '\n',
  comments: ':\n',
  'empty events': 'id: 1\n\n',
  'events that are no messages': 'data: {}\n\n'
}
for (const [what, unit] of Object.entries(floods)) {
  t.test(`promise 10: a server whose stream is ${what}, packed small, is ended, fails its call, and doesn't hold up the event loop`, async t => {
    const packed = gzipSync(unit.repeat(8_000_000 / unit.length))
    const call = caller(t, await serve(t, response => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' }).write(packed)
    }))
    await leavesLoopFree(t, what, async () => {
      t.match(await call(), { ok: false, error: { code: 'TOOL_FAILED', message: /sends more than 200 messages a second/ } })
    })
  })
}

t.test('a server whose address is in a setting is asked there, and the setting is in no error', async t => {
  const url = await serve(t, response => response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"reached"}]}}'))
  const { port } = new URL(url)
  const prefix = `http://127.0.0.1:${port}/mcp?key=`
  t.match(await caller(t, { setting: 'FAR_KEY', prefix }, { FAR_KEY: 'a-secret-value' })(), { ok: true, output: 'reached' })
  t.match(await caller(t, { setting: 'FAR_URL' }, { FAR_URL: url })(), { ok: true, output: 'reached' })
  const missing = await caller(t, { setting: 'FAR_KEY', prefix })()
  t.match(missing, { ok: false, error: { code: 'TOOL_UNAVAILABLE', message: /FAR_KEY/ } })
  const closed = await caller(t, { setting: 'FAR_KEY', prefix: 'http://127.0.0.1:1/mcp?key=' }, { FAR_KEY: 'a-secret-value' })()
  t.match(closed, { ok: false })
  t.notMatch(JSON.stringify(closed), /a-secret-value/)
})

t.test('promise 10: a body that is no message holds up no event loop, whatever it is', async t => {
  const bodies = {
    'a batch': JSON.stringify(Array.from({ length: 5_000 }, (_, id) => ({ jsonrpc: '2.0', id, result: { content: [] } }))),
    'an object': JSON.stringify(Object.fromEntries(Array.from({ length: 30_000 }, (_, at) => [`k${at}`, 1]))),
    'a message without an id': JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: 1, message: 'x' }, ...Object.fromEntries(Array.from({ length: 30_000 }, (_, at) => [`k${at}`, 1])) })
  }
  for (const [what, body] of Object.entries(bodies)) {
    const call = caller(t, await serve(t, response => response.writeHead(200, { 'content-type': 'application/json' }).end(body)))
    t.match(await call(), { ok: false, error: { code: 'TOOL_FAILED' } }, what)
    await leavesLoopFree(t, what, call)
  }
})

t.test('promise 10: a message that another line of a stream hides holds up no event loop', async t => {
  const message = JSON.stringify({ jsonrpc: '2.0', id: 2, result: { content: [], structuredContent: Array.from({ length: 40_000 }, () => ({})) } })
  for (const line of ['\ufeff', 'event: message\r', 'id: 1\r']) {
    const call = caller(t, await serve(t, response => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`${line}data: ${message}\r\r\n\n`)))
    t.match(await call(), { ok: false, error: { code: 'TOOL_FAILED', message: /without an answer/ } })
    await leavesLoopFree(t, JSON.stringify(line), call)
  }
})

t.test('a tenant with many sessions pushes out connections of its own, and none of a tenant with few', async t => {
  let opened = 0
  const { url } = await serveMcp(t, ({ method }) => {
    if (method === 'initialize') opened += 1
    return method === 'tools/call' ? { content: [] } : opening(method, [described])
  })
  const server: McpServer = { name: 'far', connection: { kind: 'http', url, headers: {} }, prefix: 'far_', filter: [], source, lock: '/manifest/tools.lock.json' }
  const tool = testTool({ kind: 'mcp', server, remote: 'probe', digest: mcpDigest(described) })
  const executors = createExecutors({
    workspaceDir: '/', env: {}, maxOutputBytes: 100_000, audit: { record: () => {}, flush: async () => {} }, http: { privateHosts: ['127.0.0.1'] }
  })
  t.teardown(async () => { await executors.close() })
  const call = async (tenant: string, session: string): Promise<number> => {
    const before = opened
    const own = { tenant, session: { id: session, dir: '/' } }
    const outcome = await executors.run(tool, {}, { jobId: 'job-1', timeoutMs: 60_000, signal: new AbortController().signal, log: () => {}, ...own })
    t.match(outcome, { ok: true }, session)
    return opened - before
  }
  t.equal(await call('quiet', 'q1'), 1)
  t.equal(await call('quiet', 'q2'), 1)
  for (let at = 0; at < 70; at++) t.equal(await call('loud', `l${at}`), 1)
  t.equal(await call('quiet', 'q1') + await call('quiet', 'q2'), 0, 'those of the quiet one are still open')
  t.equal(await call('loud', 'l69'), 0)
  t.equal(await call('loud', 'l0'), 1, 'the oldest of the loud one was ended')
})

t.test('promise 6: connections with the same long secret keep once what it is hidden in', async t => {
  const { url } = await serveMcp(t, ({ method }) => method === 'tools/call' ? { content: [] } : opening(method, [described]))
  const server: McpServer = { name: 'far', connection: { kind: 'http', url, headers: { 'x-key': { setting: 'FAR_KEY' } } }, prefix: 'far_', filter: [], source, lock: '/manifest/tools.lock.json' }
  const tool = testTool({ kind: 'mcp', server, remote: 'probe', digest: mcpDigest(described) })
  const grownBy = async (key: string): Promise<number> => {
    const executors = createExecutors({
      workspaceDir: '/', env: { FAR_KEY: key }, maxOutputBytes: 100_000, audit: { record: () => {}, flush: async () => {} }, http: { privateHosts: ['127.0.0.1'] }
    })
    const before = bytesInUse()
    for (let at = 0; at < 60; at++) {
      const own = { tenant: 'one', session: { id: `s${at}`, dir: '/' } }
      t.match(await executors.run(tool, {}, { jobId: 'job-1', timeoutMs: 60_000, signal: new AbortController().signal, log: () => {}, ...own }), { ok: true })
    }
    const after = bytesInUse()
    await executors.close()
    return (after - before) / 1_048_576
  }
  await grownBy('a-short-key')
  const [short, long] = [await grownBy('a-short-key'), await grownBy('é/'.repeat(7_000))]
  t.ok(long - short < 10, 'they grow by what one of them needs', { short, long })
})

t.test('of a server that answers and can\'t be opened it is told what to do, with its HTTP status and its own words', async t => {
  const said = async (status: number, body: string, type = 'application/json'): Promise<unknown> => {
    const { url } = await serveMcp(t, ({ response }) => {
      response.writeHead(status, { 'content-type': type }).end(body)
      return answered
    })
    const outcome = await caller(t, url)()
    return outcome.ok ? 'it succeeded' : outcome.error.message
  }
  for (const [body, type] of [['{"openapi":"3.1.0"}'], [''], ['<html>Log in</html>', 'text/html']] as const) t.match(await said(200, body, type), /is no message of MCP: give the URL .* \(often with \/mcp at its end\)/)
  t.match(await said(401, '{"error":"invalid_token"}'), /refuses the credentials of this service with the HTTP status 401: \{"error":"invalid_token"\} \(a credential is /)
  t.match(await said(500, 'upstream down', 'text/plain'), /it answers with the HTTP status 500: upstream down/)
  t.match(await said(405, ''), /older HTTP\+SSE transport/)
  const dir = t.testdir()
  makeCertificates(dir, 'server')
  const [cert, key] = ['pem', 'key'].map(end => readFileSync(join(dir, `server.${end}`)))
  const port = await listening(t, createServer({ cert, key }))
  for (const [url, why] of [[`https://127.0.0.1:${port}/mcp`, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'], ['http://127.0.0.1:6000/mcp', 'bad port']] as const) {
    t.match(await caller(t, url)(), { ok: false, error: { code: 'TOOL_UNAVAILABLE', message: `MCP server "far" can't be used: the request failed: ${why}` } })
  }
})
