import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { text as streamText } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { reach, running } from '../jobs/submission.ts'
import { createService, testKeys } from '../support/service.ts'
import { eras, textAt, type Era } from './clients.ts'

const { client: http, api } = await createService(t, {
  files: { ...programs, 'tools/bin/cat': '#!/bin/sh\nexec cat\n' },
  tools: [...entries, { name: 'cat', schema: { type: 'object' }, command: ['./tools/bin/cat'] }, {
    name: 'placed', schema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, floor: { type: 'integer', 'x-mcp-header': 'Floor' } } }, command: ['./tools/bin/cat']
  }]
})
const program = resolve('apps/cli/bin/toolyard.js')

/** Connects the SDK's client to a process of `toolyard mcp`. */
async function start (t: Test, era: Era, env: Record<string, string>, args: string[] = []): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: era === '2026-07-28' ? { pin: era } : 'legacy' } })
  const variables = { PATH: process.env['PATH'] ?? '', TOOLYARD_URL: api.address, TOOLYARD_API_KEY: testKeys.admin, ...env }
  t.teardown(() => client.close())
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [program, 'mcp', ...args], env: variables, stderr: 'ignore' }))
  return client
}

for (const era of eras) {
  t.test(`a client of ${era} uses the service through toolyard mcp`, async t => {
    const client = await start(t, era, {})
    t.ok((await client.listTools()).tools.some(({ name }) => name === 'echo'))
    const result = await client.callTool({ name: 'echo', arguments: { text: 'ü' } })
    t.same(result.structuredContent, { text: 'ü' })
    const placed = { region: 'Übersee', floor: 3 }
    t.same((await client.callTool({ name: 'placed', arguments: placed })).structuredContent, placed)
    t.equal(textAt(await client.callTool({ name: 'fail', arguments: { stderr: 'no' } })), 'no\n\nTOOL_FAILED')
    await t.rejects(client.callTool({ name: 'no_such' }), { code: -32_602 })

    const abort = new AbortController()
    const calling = client.callTool({ name: 'nap', arguments: { ms: 15_000 } }, { signal: abort.signal })
    const id = await running(http)
    abort.abort()
    await t.rejects(calling)
    await reach(http, id, 'cancelled')
  })
}

t.test('the queue of its calls can be named', async t => {
  const client = await start(t, '2025-11-25', { TOOLYARD_API_KEY: testKeys.limited }, ['--queue', 'allowed'])
  t.same((await client.callTool({ name: 'echo', arguments: { a: 1 } })).structuredContent, { a: 1 })
})

/** Starts a process of `toolyard mcp` that is spoken to by lines. */
function startRaw (t: Test): {
  program: ReturnType<typeof spawn>
  send: (text: string) => void
  answer: () => Promise<unknown>
  text: () => Promise<string>
} {
  const variables = { PATH: process.env['PATH'] ?? '', TOOLYARD_URL: api.address, TOOLYARD_API_KEY: testKeys.admin }
  const child = spawn(process.execPath, [program, 'mcp'], { env: variables, stdio: ['pipe', 'pipe', 'pipe'] })
  t.teardown(() => { child.kill() })
  child.stdin.on('error', () => {})
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const text = async (): Promise<string> => String((await lines.next()).value)
  return {
    program: child,
    text,
    send: text => { child.stdin.write(text) },
    answer: async () => JSON.parse(await text()) as unknown
  }
}

t.test('what is no message of JSON-RPC gets an error, with its id where it has one, and what comes behind it is answered', async t => {
  const { send, answer } = startRaw(t)
  const lines: Array<[string, unknown[]]> = [
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":"2","method":"ping"}]', [1, '2']],
    ['[{"jsonrpc":"2.0","method":"notifications/initialized"}]', [null]],
    ['[]', [null]],
    ['{"id":3}', [null]],
    ['5', [null]],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', [1.5]],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', [null]],
    ['{"jsonrpc":"2.0","id":6,"result":7}', [null]]
  ]
  for (const [line, ids] of lines) {
    send(`${line}\n`)
    for (const id of ids) t.match(await answer(), { jsonrpc: '2.0', id, error: { code: -32_600, message: /one message of JSON-RPC/ } }, line)
  }
  send('no JSON\n\n{"jsonrpc":"2.0","id":7,"method":"ping"}\r\n')
  t.match(await answer(), { id: 7, result: {} })
})

t.test('null, or an empty list, is what is left out', async t => {
  const { send, answer } = startRaw(t)
  for (const params of ['null', '[]', '{"_meta":null}']) {
    send(`{"jsonrpc":"2.0","id":4,"method":"ping","params":${params}}\n`)
    t.match(await answer(), { id: 4, result: {} }, params)
  }
})

t.test('numbers and the order of keys go both ways as they were written, in arguments, ids and outputs', async t => {
  const { send, text } = startRaw(t)
  const id = '725653563933458432'
  const args = `{"a":${id},"2":1.0,"1":["é\\"",-0,{"0":12345678901234567890}]}`
  send(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"cat","arguments":${args}}}\n`)
  const answer = await text()
  t.ok(answer.includes(`"id":${id}`), answer)
  t.ok(answer.includes(JSON.stringify(args)), answer)
  const small = '{"2":1.0,"1":[-0]}'
  send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"cat","arguments":${small}}}\n`)
  const said = await text()
  t.ok(said.includes(`"structuredContent":${small}`), said)
})

t.test('a message that comes in pieces is read as one', async t => {
  const { program: child, answer } = startRaw(t)
  for (const byte of Buffer.from('{"jsonrpc":"2.0","id":"ü€😀","method":"ping"}\n')) {
    await new Promise(resolve => child.stdin?.write(Buffer.of(byte), resolve))
  }
  t.match(await answer(), { id: 'ü€😀', result: {} })
})

t.test('stdin that ends while a call runs ends the program without a fault', async t => {
  const { program: child, send, answer } = startRaw(t)
  const exit = once(child, 'exit')
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  send(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`)
  t.match(await answer(), { id: 1, result: { protocolVersion: '2025-11-25' } })
  send(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`)
  send(`${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'nap', arguments: { ms: 5_000 } } })}\n`)
  await running(http)
  const rest = answer().catch(() => undefined)
  const printed = child.stderr === null ? '' : streamText(child.stderr)
  child.stdin?.end()
  t.strictSame(await exit, [0, null])
  t.equal(await rest, undefined, 'and answers no more')
  t.equal(await printed, '', 'and says nothing of calls that it left')
})

t.test('a line that never ends ends the program', async t => {
  const { program: child, send } = startRaw(t)
  const exit = once(child, 'exit')
  const part = 'x'.repeat(1_048_576)
  for (let at = 0; at < 12; at++) send(part)
  t.strictSame(await exit, [1, null])
})

t.test('an unknown key and a missing service are reported', async t => {
  await t.rejects(start(t, '2025-11-25', { TOOLYARD_API_KEY: 'wrong' }), /Unauthorized/)
  await t.rejects(start(t, '2025-11-25', { TOOLYARD_URL: 'http://127.0.0.1:9' }), /Toolyard can't be reached at http:\/\/127\.0\.0\.1:9: .+Start it with toolyard start, or set TOOLYARD_URL/)
})
