import type { Worker } from 'node:worker_threads'
import t from 'tap'
import { writeJson } from '@toolyard/contract/terms'
import type { McpServer } from '@toolyard/manifests'
import type { Outcome } from '@toolyard/executors'
import { waitFor } from '../support/condition.ts'
import { outputOf } from './fixture.ts'
import { open, program, toolOf, type Calls } from './mcp-fixture.ts'

const raw = async (calls: Calls, result: object): Promise<Outcome> => await calls.call('raw', { result })

t.test('an error with structured content has it in its details, and a text in place of a declared object is told', async t => {
  const calls = open(t, [''])
  const error = { content: [{ type: 'text', text: 'no such row' }], structuredContent: { row: 7 }, isError: true }
  t.strictSame(await raw(calls, error), { ok: false, error: { code: 'TOOL_FAILED', message: 'no such row', details: { row: 7 } } })
  const outputSchema = { type: 'object' }
  t.match(await calls.call('raw', { result: { content: [{ type: 'text', text: 'I had no object.' }] } }, {}, { outputSchema }), { error: { code: 'OUTPUT_INVALID', details: { output: 'I had no object.' } } })
})

t.test('images and links beside structured content are kept, but where a schema of it was accepted', async t => {
  const calls = open(t, [''])
  const structuredContent = { rows: 2 }
  const image = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' }
  const link = { type: 'resource_link', uri: 'https://example.com/rows', name: 'rows' }
  const result = { content: [{ type: 'text', text: '{"rows":2}' }, image, link], structuredContent }
  t.strictSame(await raw(calls, result), { ok: true, output: { content: [image, link], structuredContent } })
  t.strictSame(await raw(calls, { ...result, content: [{ type: 'text', text: 'two rows' }] }), { ok: true, output: structuredContent })
  t.strictSame(await calls.call('raw', { result }, {}, { outputSchema: { type: 'object' } }), { ok: true, output: structuredContent })
})

t.test('structured content stays whole beside an image that is longer than an output may be', async t => {
  const calls = open(t, [''], { maxOutputBytes: 65_536 })
  const structuredContent = { rows: 2 }
  const image = { type: 'image', mimeType: 'image/png', data: 'A'.repeat(80_000) }
  t.strictSame(await raw(calls, { content: [image], structuredContent }), { ok: true, output: structuredContent })
})

t.test('numbers of the structured content of an error are kept as they were written', async t => {
  const structured = '{"row":725653563933458432,"part":1.0}'
  const line = `{"jsonrpc":"2.0","id":ID,"result":{"isError":true,"content":[{"type":"text","text":"no"}],"structuredContent":${structured}}}`
  const outcome = await open(t, ['']).call('line', { line })
  t.equal(outcome.ok ? undefined : writeJson(outcome.error.details), structured)
})

t.test('an answer that is no JSON, or has null as its result, is OUTPUT_INVALID at once, with a line in the log', async t => {
  const warned: string[] = []
  const calls = open(t, [''], { logger: { warn: (_, message) => { warned.push(message) } } })
  const lines = {
    '{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":{"x":NaN}}}': /is no JSON: it holds NaN/,
    '{"jsonrpc": "2.0", "id": ID, "result": {"content": [], "structuredContent": {"x": [-Infinity]}}}': /it holds -Infinity/,
    '{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"a\'}]},"id":ID}': /is no JSON/,
    '{"jsonrpc":"2.0","id":ID,"result":null}': /its result is null/,
    '{"jsonrpc":"2.0","id":ID,"result":"done"}': /its result is no object/,
    '{"jsonrpc":"2.0","id":ID}': /its result is missing/,
    '{"jsonrpc":"2.0","id":ID,"error":"boom"}': /its error is none of JSON-RPC: "boom"/,
    '{"jsonrpc":"2.0","id":ID,"error":{"message":"no code"}}': /none of JSON-RPC: {"message":"no code"}/,
    '{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":{"x":1e400}}}': /too large/
  }
  for (const [line, message] of Object.entries(lines)) t.match(await calls.call('line', { line }), { ok: false, error: { code: 'OUTPUT_INVALID', message } }, line)
  t.match(warned.filter(line => line.includes('can\'t be read')), [/NaN/, /Infinity/, /no JSON/, /null/, /no object/, /missing/, /boom/, /no code/, /too large/])
})

t.test('an answer with null for what it does not mean, or without a version, is taken', async t => {
  const calls = open(t, [''])
  const result = '{"content":[{"type":"text","text":"done"}]}'
  for (const line of [`{"jsonrpc":"2.0","id":ID,"result":${result},"error":null}`, `{"id":ID,"result":${result}}`, `{"jsonrpc":"1.0","id":ID,"result":${result},"error":null}`]) {
    t.match(await calls.call('line', { line }), { ok: true, output: 'done' }, line)
  }
  const error = '{"jsonrpc":"2.0","id":ID,"result":null,"error":{"code":-32000,"message":"no such row","data":null}}'
  t.match(await calls.call('line', { line: error }), { ok: false, error: { code: 'TOOL_FAILED', message: 'no such row' } })
})

t.test('an odd tool is left out by its name, and the others are served, also those with null for what they leave out; a cursor that repeats ends the list', async t => {
  const warned: string[] = []
  const calls = open(t, ['odd-tools'], { logger: { warn: (_, message) => { warned.push(message) } } })
  t.match(await calls.call('echo', { text: 'a' }), { ok: true, output: 'a' })
  t.match(warned, [
    /its tool "deep" is left out: it nests too deeply/, /its tool "none" is left out: "inputSchema" must be an object, and is missing/, /"null" is left out: .* is null/, /"empty" is left out: .* must have the type "object"/,
    /"required" is left out: "required" of "inputSchema" must be a list/, /"list" is left out: "outputSchema" must be an object, and is a list/,
    /its tool "task" is left out: it is called as a task alone/, /its tool without a name is left out/, /its tool without a name is left out: it is no object/
  ])
  t.match(await open(t, ['same-cursor']).call('echo', { text: 'a' }), { ok: true })
})

t.test('no output of a server has secrets that it was given, in any form that gives them away', async t => {
  const env = { PATH: process.env['PATH'], FILES_TOKEN: 'sesame/"open"' }
  const connection: McpServer['connection'] = { kind: 'stdio', program: process.execPath, args: [program], env: { TOKEN: { setting: 'FILES_TOKEN', prefix: 'Bearer ' } } }
  const calls = open(t, [], { env }, { connection })
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  const sent = 'Bearer sesame/"open"'
  t.strictSame(await raw(calls, { content: [{ type: 'text', text: `got ${sent}, ${base64(sent)}` }] }), { ok: true, output: 'got [secret], [secret]' })
  t.strictSame(await raw(calls, { content: [], structuredContent: { 'sesame/"open"': [encodeURIComponent('sesame/"open"'), base64('sesame/"open"'), 1] } }), { ok: true, output: { '[secret]': ['[secret]', '[secret]', 1] } })
  const inside = await raw(calls, { content: [{ type: 'text', text: base64(`{"Authorization":"${sent}"}`) }] })
  t.match(inside, { output: /\[secret\]/ })
  const large = outputOf(await raw(calls, { content: [{ type: 'text', text: `${'x'.repeat(100_000)} ${sent}` }] }))
  t.match(String(large).slice(-20), 'x [secret]')
  t.match(await raw(calls, { content: [{ type: 'text', text: sent }], structuredContent: { sent }, isError: true }), { error: { message: '[secret]', details: { sent: '[secret]' } } })
})

t.test('promise 6: a server that floods its stderr waits: no more than a mebibyte of it is read in a second', async t => {
  const calls = open(t, [''])
  await calls.call('echo', { text: 'ready' })
  const begun = performance.now()
  const outcome = await calls.call('cry', { ms: 2_000 })
  const seconds = (performance.now() - begun) / 1_000
  t.match(outcome, { ok: true })
  const bytes = Number(outcome.ok ? outcome.output : NaN)
  t.ok(bytes > 1_000_000 && bytes < (seconds + 2) * 1_048_576, `${bytes} bytes in ${seconds} s`)
})

t.test('what one server reports leaves room for what others report', async t => {
  const warned: string[] = []
  const calls = open(t, [''], { logger: { warn: (_, message) => { warned.push(message) } } })
  await calls.call('complain')
  await waitFor('200 lines were reported', () => warned.length === 200)
  const other = toolOf('echo', [''], { name: 'other' }, { digest: 'sha256:other' })
  await calls.fixture.executors.run(other, {}, { jobId: 'job-2', timeoutMs: 20_000, signal: new AbortController().signal, log: () => {} })
  t.match(warned.at(-1), /MCP server "other": it describes its tool "echo" otherwise/)
})

t.test('promise 6: a server that sends large messages that nobody asked for is ended', async t => {
  const calls = open(t, [''], { maxOutputBytes: 100_000 })
  t.match(await calls.call('strays', { count: 5, bytes: 300_000 }), { ok: true, output: 'sent' })
  t.match(await calls.call('strays', { count: 200, bytes: 300_000 }), { error: { code: 'TOOL_FAILED', message: /sends more than 3276800 bytes a second that nobody asked for/ } })
})

t.test('promise 6: large messages of many connections are read two at a time', async t => {
  const calls = open(t, [''], { maxOutputBytes: 500_000 })
  let alive = 0
  let most = 0
  const count = (thread: Worker): void => {
    most = Math.max(most, ++alive)
    thread.once('exit', () => { alive -= 1 })
  }
  process.on('worker', count)
  t.teardown(() => { process.off('worker', count) })
  const tenants = Array.from({ length: 5 }, (_, at) => `tenant-${at}`)
  await Promise.all(tenants.map(async tenant => { t.match(await calls.call('echo', { text: 'ready' }, { tenant }), { ok: true }) }))
  const result = { content: [], structuredContent: { list: Array.from({ length: 60_000 }, () => ({})) } }
  const outcomes = await Promise.all(tenants.map(async tenant => await calls.call('raw', { result }, { tenant })))
  t.ok(outcomes.every(({ ok }) => ok))
  t.ok(most > 0 && most <= 2, `${most} threads`)
})
