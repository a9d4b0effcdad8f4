import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { meta, rpc } from '../mcp/clients.ts'
import { repoRoot } from '../repo/source-tree.ts'
import { waitFor } from '../support/condition.ts'
import { createService, testKeys } from '../support/service.ts'

const trace = '0af7651916cd43dd8448eb211c80319c'
const service = await createService(t, {
  files: { 'tools/bin/where': '#!/bin/sh\necho "$TRACEPARENT"\n', 'tools/bin/vars': '#!/bin/sh\nenv\n' },
  tools: [
    { name: 'where_am_i', schema: { type: 'object' }, command: ['./tools/bin/where'] },
    { name: 'variables', schema: { type: 'object' }, command: ['./tools/bin/vars'] },
    { name: 'offered', schema: { type: 'object' }, command: ['./tools/bin/vars'], publishAs: { uri: 'trace://here' } }
  ]
})
const { client, api, workers } = service

t.test('without a collector nothing of OpenTelemetry\'s SDK is loaded', async t => {
  const loaded = spawnSync(process.execPath, ['--input-type=module', '-e', `
    import '@toolyard/api'
    import '@toolyard/worker'
    import { openTracer } from '@toolyard/runtime/traces'
    import { tracesOf, readSettings } from '@toolyard/runtime'
    import { createRequire } from 'node:module'
    if (await openTracer(tracesOf(readSettings({}), 'api'), () => {}) !== undefined) throw new Error('there is a tracer')
    console.log(Object.keys(createRequire(import.meta.url).cache).filter(file => /@opentelemetry.(?:sdk|exporter|otlp|resources|core)/.test(file)).length)
  `], { cwd: repoRoot, encoding: 'utf8' })
  t.equal(loaded.stdout, '0\n', loaded.stderr)
})

t.test('without a trace a tool has no variables of one, and without a collector the caller\'s trace is passed on', async t => {
  const plain = await client.request('/v1/tools/variables', { body: {} })
  t.notMatch(plain.text, /TRACEPARENT|TRACESTATE/)
  const traced = await client.request('/v1/tools/variables', { body: {}, headers: { traceparent: `00-${trace}-b7ad6b7169203331-00` } })
  t.match(traced.text, `TRACEPARENT=00-${trace}-b7ad6b7169203331-00`)
  t.notMatch(traced.text, /TRACESTATE/)
  const malformed = await client.request('/v1/tools/variables', { body: {}, headers: { traceparent: `00-${trace}-b7ad6b7169203331-00-more`, tracestate: 'a=b' } })
  t.notMatch(malformed.text, /TRACEPARENT|TRACESTATE/)
})

t.test('a message of MCP may name the trace of its call in _meta, in both eras, and that wins over the headers', async t => {
  const ofCall = `00-${trace}-00f067aa0ba902b7-01`
  const header = '00-4bf92f3577b34da6a3ce929d0e0e4736-b7ad6b7169203331-00'
  const modern = { ...meta, traceparent: ofCall, tracestate: 'vendor=opaque' }
  const offered = { traceparent: header }
  const answers = [
    await rpc(api.address, 'tools/call', { name: 'variables', arguments: {} }, { key: testKeys.admin, headers: offered, meta: modern }),
    await rpc(api.address, 'resources/read', { uri: 'trace://here' }, { key: testKeys.admin, headers: offered, meta: modern }),
    await client.request('/mcp', {
      headers: { ...offered, accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'variables', arguments: {}, _meta: { traceparent: ofCall, tracestate: 'vendor=opaque' } } }
    })
  ]
  for (const { status, text } of answers) {
    t.equal(status, 200, text)
    t.match(text, `TRACEPARENT=${ofCall}`)
    t.match(text, 'TRACESTATE=vendor=opaque')
  }
  const malformed = await rpc(api.address, 'tools/call', { name: 'variables', arguments: {} }, { key: testKeys.admin, headers: offered, meta: { ...meta, traceparent: 'nonsense' } })
  t.match(malformed.text, `TRACEPARENT=${header}`, 'what is malformed counts as absent')
})

t.test('a worker\'s line has the ids of request and call also without a trace', async t => {
  const answer = await client.request('/v1/agent-tools/invoke-batch', { body: { calls: [{ call_id: 'call_7', name: 'variables', arguments: {} }] } })
  const line = await waitFor('the line', async () => (await workers[0]?.output() ?? '').split('\n').find(each => each.includes('call_7')))
  t.match(JSON.parse(line), { reqId: answer.headers.get('x-request-id'), callId: 'call_7', trace_id: undefined })
})

const page = readFileSync(join(repoRoot, 'docs/traces.md'), 'utf8')
const commands = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, command = '']) => command)
const expected = [/"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\\n"|00-0af7651916cd43dd8448eb211c80319c/, /"msg":"request"[\s\S]*"msg":"job succeeded"|"msg":"job succeeded"[\s\S]*"msg":"request"/]

t.test('every command of docs/traces.md does what the page says', { skip: spawnSync('curl', ['--version']).status !== 0 && 'no curl here' }, async t => {
  t.equal(commands.length, expected.length)
  for (const [index, command] of commands.entries()) {
    // A line of the log may come after the answer that it is about.
    const output = await waitFor('the command shows what the page says', async () => {
      const shell = spawn('sh', ['-ec', command], {
        env: { ...process.env, TOOLYARD_URL: api.address, TOOLYARD_API_KEY: testKeys.admin, TOOLYARD_LOGS: service.dir }, stdio: ['ignore', 'pipe', 'inherit']
      })
      const [printed, [status]] = await Promise.all([text(shell.stdout), once(shell, 'exit') as Promise<[number | null]>])
      t.equal(status, 0, printed)
      return expected[index]?.test(printed) === true ? printed : undefined
    })
    t.match(output, expected[index])
  }
  t.ok(readdirSync(service.dir).some(name => name.endsWith('.log')))
})
