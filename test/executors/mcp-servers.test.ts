import t from 'tap'
import { limits } from '@toolyard/contract'
import { createSchemas, type McpServer } from '@toolyard/manifests'
import type { Outcome, RunContext, SessionPlace } from '@toolyard/executors'
import { waitFor } from '../support/condition.ts'
import { warningsOf } from '../support/warnings.ts'
import { isAlive, outputOf } from './fixture.ts'
import { open, program, toolOf, type Calls } from './mcp-fixture.ts'

const raw = async (calls: Calls, result: object): Promise<Outcome> => await calls.call('raw', { result })

t.test('a call reaches the server and its text is the output; the next call finds the same server', async t => {
  const calls = open(t, [''])
  t.strictSame(await calls.call('echo', { text: 'hello' }), { ok: true, output: 'hello' })
  const pids = await Promise.all([calls.call('pid'), calls.call('pid'), calls.call('pid')])
  t.equal(new Set(pids.map(outcome => outcome.ok && outcome.output)).size, 1)
  await calls.fixture.executors.close()
  const pid = pids[0]?.ok === true ? Number(pids[0].output) : 0
  t.notOk(isAlive(pid), 'it ends with the worker')
  t.match(await calls.fixture.auditLines(), [{ tool: 'sample_echo', argv: ['mcp', 'sample', 'echo'], exit: 0, stdoutBytes: 7 }])
})

t.test('each tenant, and each of its sessions, has its own process of a server; the operator\'s keys share one', async t => {
  const calls = open(t, [''])
  const session = (id: string): { session: SessionPlace } => ({ session: { id, dir: calls.fixture.workspace } })
  const scopes: Array<Partial<RunContext>> = [{}, { tenant: 'acme' }, { tenant: 'other' }, { tenant: 'acme', ...session('one') }, { tenant: 'acme', ...session('two') }, session('three')]
  const pidsOf = async (): Promise<string[]> => await Promise.all(scopes.map(async context => JSON.stringify(await calls.call('pid', {}, context))))
  const pids = await pidsOf()
  t.equal(new Set(pids).size, scopes.length, pids.join())
  t.same(await pidsOf(), pids)
})

t.test('structured content becomes the output, images stay content, and the text of an error becomes the message', async t => {
  const calls = open(t, [''])
  const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' }
  t.strictSame(await raw(calls, { content: [{ type: 'text', text: '{"a":1}' }], structuredContent: { a: 1 } }), { ok: true, output: { a: 1 } })
  t.strictSame(await raw(calls, { content: [{ type: 'text', text: 'a' }, { type: 'text', text: 'b' }] }), { ok: true, output: 'a\nb' })
  t.strictSame(await raw(calls, { content: [{ type: 'text', text: 'a' }, image] }), { ok: true, output: { content: [{ type: 'text', text: 'a' }, image] } })
  t.strictSame(await raw(calls, { content: [] }), { ok: true, output: '' })
  t.strictSame(await raw(calls, { content: [{ type: 'text', text: 'no such file' }], isError: true }), { ok: false, error: { code: 'TOOL_FAILED', message: 'no such file' } })
  t.match(await raw(calls, { content: [], isError: true }), { error: { code: 'TOOL_FAILED', message: 'the tool reported an error without a text' } })
  t.match(await raw(calls, { other: true }), { ok: false, error: { code: 'OUTPUT_INVALID' } })
  const deep = JSON.parse(`${'['.repeat(limits.outputDepth)}${']'.repeat(limits.outputDepth)}`) as unknown
  t.match(await raw(calls, { content: [], structuredContent: { deep } }), { ok: false, error: { code: 'OUTPUT_INVALID', message: /nests too deeply/ } })
})

t.test('a large output is whole, and one above the bound is cut as text', async t => {
  const calls = open(t, [''], { maxOutputBytes: 200_000 })
  const large = 'ä'.repeat(90_000)
  t.equal(outputOf(await calls.call('echo', { text: large })), large)
  const cut = await calls.call('echo', { text: 'ä'.repeat(150_000) })
  t.match(cut, { ok: true, cut: { bytes: 300_000, storedBytes: 200_000 } })
  const list = { list: Array.from({ length: 20_000 }, (_, at) => at) }
  t.strictSame(outputOf(await raw(calls, { content: [], structuredContent: list })), list)
})

t.test('a call of a trace names it in _meta, as the protocol says; a call without a trace does not', async t => {
  const calls = open(t, [''])
  const variables = { TRACEPARENT: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', TRACESTATE: 'vendor=opaque' }
  const meta = JSON.parse(String(outputOf(await calls.call('meta', {}, { trace: { variables } })))) as Record<string, unknown>
  t.match(meta, { traceparent: variables.TRACEPARENT, tracestate: 'vendor=opaque' })
  const without = JSON.parse(String(outputOf(await calls.call('meta')))) as Record<string, unknown> | null
  t.equal(without?.['traceparent'], undefined)
})

t.test('an output that does not fit the accepted schema is OUTPUT_INVALID', async t => {
  const outputSchema = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] }
  const schemas = createSchemas()
  const calls = open(t, [''], { compileSchema: schema => schemas.validators(schema).check, maxOutputBytes: 500_000 })
  const answer = async (result: object): Promise<Outcome> => await calls.call('raw', { result }, {}, { outputSchema })
  t.strictSame(await answer({ content: [], structuredContent: { sum: 1, more: 'x' } }), { ok: true, output: { sum: 1, more: 'x' } })
  for (const structuredContent of [{ sum: '1' }, {}, [1], 'text']) {
    t.match(await answer({ content: [], structuredContent }), { ok: false, error: { code: 'OUTPUT_INVALID', message: /not/ } })
  }
  t.match(await answer({ content: [{ type: 'text', text: '{"sum": 1}' }] }), { error: { code: 'OUTPUT_INVALID' } }, 'nothing is structured')
  t.match(await answer({ content: [{ type: 'text', text: 'no' }], isError: true }), { error: { code: 'TOOL_FAILED', message: 'no' } })
  const large = { sum: 1, list: Array.from({ length: 20_000 }, (_, at) => at) }
  t.strictSame(outputOf(await answer({ content: [], structuredContent: large })), large)
  t.match(await answer({ content: [], structuredContent: { ...large, sum: null } }), { error: { code: 'OUTPUT_INVALID' } })
  const many = { sum: 1, list: Array.from({ length: 40_000 }, () => []) }
  t.match(await answer({ content: [], structuredContent: many }), { error: { code: 'OUTPUT_INVALID', message: /not checked/ } })
})

t.test('progress that the server reports is the job\'s progress, and no line of its log', async t => {
  const calls = open(t, [''])
  const told: object[] = []
  t.match(await calls.call('slow', { ms: 100 }, { progress: progress => { told.push(progress) } }), { ok: true, output: 'slept' })
  t.strictSame(told, [1, 2, 3].map(done => ({ done, total: 3, text: `step ${done}` })))
  t.strictSame(calls.lines, [])
})

t.test('of progress that is reported faster than anybody reads, some is left out, and the call has its answer', async t => {
  const calls = open(t, [''])
  let told = 0
  for (let call = 0; call < 2; call++) t.match(await calls.call('report', { count: 6_000 }, { progress: () => { told++ } }), { ok: true, output: 'reported' })
  t.ok(told > 0 && told < 6_000, `${told} of 12,000`)
})

t.test('the server is told to cancel a call that takes too long, and goes on with others', async t => {
  const warned: string[] = []
  const calls = open(t, [''], { logger: { warn: (_, message) => { warned.push(message) } } })
  await calls.call('pid')
  t.match(await calls.call('slow', {}, { timeoutMs: 300 }), { ok: false, error: { code: 'TOOL_TIMEOUT' } })
  await waitFor('the server hears of it', () => warned.some(line => line.includes('a call was cancelled')))
  t.match(await calls.call('echo', { text: 'on' }), { ok: true, output: 'on' })
})

t.test('a cancelled job cancels the call', async t => {
  const calls = open(t, [''])
  const cancel = new AbortController()
  let runs = false
  const running = calls.call('slow', {}, { signal: cancel.signal, progress: () => { runs = true } })
  await waitFor('the call runs', () => runs)
  cancel.abort()
  t.match(await running, { ok: false, error: { code: 'JOB_CANCELLED' } })
})

t.test('a server that dies fails its running calls, and is started again for the next one', async t => {
  const calls = open(t, [''])
  const first = await calls.call('pid')
  const running = new Set<number>()
  const others = Promise.all([1, 2].map(async n => await calls.call('slow', {}, { progress: () => { running.add(n) } })))
  await waitFor('they run', () => running.size > 1)
  t.match(await calls.call('die'), { ok: false, error: { code: 'TOOL_FAILED', message: 'MCP server "sample" ended while it ran the call: exit status 7' } })
  for (const outcome of await others) t.match(outcome, { ok: false, error: { code: 'TOOL_FAILED', message: /ended while it ran/ } })
  const second = await calls.call('pid')
  t.ok(second.ok, JSON.stringify(second))
  t.not(first.ok && first.output, second.ok && second.output)
})

t.test('a server that can\'t be started, or ends at once, gives TOOL_UNAVAILABLE, and is tried again after a pause', async t => {
  const missing = open(t, [], {}, { connection: { kind: 'stdio', program: 'no-such-program', args: [], env: {} } })
  t.match(await missing.call('echo'), { ok: false, error: { code: 'TOOL_UNAVAILABLE', message: /no program "no-such-program" on the PATH of the worker/ } })
  const dying = open(t, ['dies-at-once'])
  t.match(await dying.call('echo'), { ok: false, error: { code: 'TOOL_UNAVAILABLE', message: /exit status 3/ } })
  for (let at = 0; at < 3; at++) await dying.call('echo')
  t.match(await dying.call('echo'), { ok: false, error: { code: 'TOOL_UNAVAILABLE', message: /tried again in \d+ s/ } })
})

t.test('the error of a server that ends at once has the line of its stderr that says why, without its secrets', async t => {
  const env = { PATH: '/usr/bin:/bin', SERVER_TOKEN: 'sesame-open-12' }
  const connection: McpServer['connection'] = { kind: 'stdio', program: process.execPath, args: [program, 'throws-at-once'], env: { TOKEN: { setting: 'SERVER_TOKEN' } } }
  const outcome = await open(t, [], { env }, { connection }).call('echo')
  t.match(outcome, { ok: false, error: { code: 'TOOL_UNAVAILABLE', message: /can't be used: exit status 1; its stderr: Error: EMFILE: too many open files, open '/ } })
  t.notMatch(JSON.stringify(outcome), /sesame-open/)
})

t.test('a call of a server that hangs while it starts ends at its timeout, and says that the server was not asked', async t => {
  const calls = open(t, ['hangs'])
  t.match(await calls.call('echo', {}, { timeoutMs: 500 }), { ok: false, error: { code: 'TOOL_TIMEOUT', details: { timeout_sec: 0.5, hint: /MCP server "sample" was not ready in this time, and has not been asked/ } } })
})

t.test('a server that no longer answers is ended after one of its calls was given up', async t => {
  const calls = open(t, ['stops'])
  t.match(await calls.call('pid'), { ok: true }, 'it is open: its start is no part of the time below')
  t.match(await calls.call('echo', {}, { timeoutMs: 1_500 }), { ok: false, error: { code: 'TOOL_TIMEOUT' } })
  const stopped = calls.call('pid', {}, { timeoutMs: 120_000 })
  t.match(await stopped, { ok: false, error: { code: 'TOOL_FAILED', message: /ended while it ran the call/ } }, 'also for those that wait for it')
})

t.test('a server that floods, or sends an endless message, is ended, and its calls fail', async t => {
  for (const mode of ['floods', 'blanks']) {
    t.match(await open(t, [mode]).call('echo'), { ok: false, error: { code: 'TOOL_FAILED', message: /more than 200 messages a second/ } }, mode)
  }
  t.match(await open(t, ['shouts'], { maxOutputBytes: 65_536 }).call('echo'), { ok: false, error: { code: 'TOOL_FAILED', message: /a message of more than 262144 bytes/ } })
})

t.test('lines of a server that aren\'t messages are ignored', async t => {
  t.match(await open(t, ['babbles']).call('echo', { text: 'hello' }), { ok: true, output: 'hello' })
})

t.test('a server that does not answer unknown requests is taken for one of an older revision', async t => {
  t.match(await open(t, ['silent']).call('echo', { text: 'hello' }), { ok: true, output: 'hello' })
})

t.test('a server whose list of tools is endless or empty gives TOOL_UNAVAILABLE', async t => {
  t.match(await open(t, ['endless-pages']).call('echo'), { error: { code: 'TOOL_UNAVAILABLE', message: /more than 64 pages/ } })
  t.match(await open(t, ['heavy-pages']).call('echo'), { error: { code: 'TOOL_UNAVAILABLE', message: /its tools have more than \d+ bytes/ } })
  t.match(await open(t, ['many-tools']).call('echo'), { error: { code: 'TOOL_UNAVAILABLE', message: /more than 1000 tools/ } })
  t.match(await open(t, ['no-tools']).call('echo'), { error: { code: 'TOOL_UNAVAILABLE' } })
})

t.test('a tool is not called when its description differs from the accepted one, and that is logged once', async t => {
  const warned: string[] = []
  const calls = open(t, ['changes', '1'], { logger: { warn: (_, message) => { warned.push(message) } } })
  t.match(await calls.call('echo', { text: 'a' }), { ok: true }, 'as it was accepted; the server says that its list changed')
  for (let at = 0; at < 2; at++) t.match(await calls.call('echo', { text: 'b' }), { ok: false, error: { code: 'TOOL_UNAVAILABLE', message: /otherwise than it was accepted.*toolyard accept/ } })
  t.match(warned.filter(line => line.includes('otherwise')), ['MCP server "sample": it describes its tool "echo" otherwise than it was accepted; look at it with toolyard accept /manifest/tools.json'])
  const gone = open(t, [''])
  t.match(await gone.call('other'), { ok: false, error: { code: 'TOOL_UNAVAILABLE', message: /has no tool "other" any more/ } })
})

t.test('a server gets the variables of its entry and none of the service; the error names a missing setting', async t => {
  const env = { PATH: process.env['PATH'], API_KEY: 'service', FILES_TOKEN: 'sesame-open' }
  const connection = (texts: Record<string, string | { setting: string }>): Partial<McpServer> => ({ connection: { kind: 'stdio', program: process.execPath, args: [program], env: texts } })
  const outcome = await open(t, [], { env }, connection({ LEVEL: 'debug', TOKEN: { setting: 'FILES_TOKEN' } })).call('env')
  const seen = JSON.parse(String(outcome.ok && outcome.output)) as Record<string, string>
  t.match(seen, { LEVEL: 'debug', TOKEN: '[secret]', LANG: 'C.UTF-8' }, 'what it says of the secret is hidden')
  t.strictSame(Object.keys(seen).filter(name => ['API_KEY', 'FILES_TOKEN'].includes(name)), [])
  t.match(await open(t, [], { env }, connection({ TOKEN: { setting: 'OTHER' } })).call('env'), { error: { code: 'TOOL_UNAVAILABLE', message: /no environment variable OTHER/ } })
  const calls = open(t, [], { env }, connection({ TOKEN: { setting: 'FILES_TOKEN' } }))
  t.match(await raw(calls, { content: [{ type: 'text', text: 'bad token sesame-open' }], isError: true }), { error: { message: 'bad token [secret]' } })
})

t.test('no error of a server has secrets that the server was given: not in its data, and not when it can\'t be opened', async t => {
  const connection = (mode: string): Partial<McpServer> => ({ connection: { kind: 'stdio', program: process.execPath, args: [program, mode], env: { TOKEN: { setting: 'FILES_TOKEN' } } } })
  const env = { PATH: process.env['PATH'], FILES_TOKEN: 'sesame-open' }
  const calls = open(t, [], { env }, connection(''))
  t.strictSame(await calls.call('fail', { data: { 'sesame-open': ['Bearer sesame-open', 7, null] } }), { ok: false, error: { code: 'TOOL_FAILED', message: 'no', details: { code: -32_000, data: { '[secret]': ['Bearer [secret]', 7, null] } } } })
  t.strictSame(await calls.call('fail', { data: 'x'.repeat(1_000_000) }), { ok: false, error: { code: 'TOOL_FAILED', message: 'no', details: { code: -32_000 } } })
  const refused = await open(t, [], { env }, connection('refuses')).call('echo')
  t.match(refused, { error: { code: 'TOOL_UNAVAILABLE', message: /no such token: \[secret\]/ } })
})

t.test('a server that ignores the end of its input and SIGTERM is gone when the worker closes', async t => {
  const calls = open(t, ['stays'])
  const outcome = await calls.call('pid')
  await calls.fixture.executors.close()
  t.notOk(isAlive(outcome.ok ? Number(outcome.output) : process.pid))
})

t.test('a server whose entry was removed or changed ends: at once, or after the calls that run', async t => {
  const calls = open(t, [''])
  const pidOf = async (context: Partial<RunContext> = {}): Promise<number> => Number(outputOf(await calls.call('pid', {}, context)))
  const [own, other] = [await pidOf(), await pidOf({ tenant: 'acme' })]
  calls.fixture.executors.keep([toolOf('echo', [''])])
  t.same([await pidOf(), await pidOf({ tenant: 'acme' })], [own, other], 'a reload that leaves it as it is ends nothing')
  let runs = false
  const running = calls.call('slow', { ms: 2_000 }, { progress: () => { runs = true } })
  await waitFor('the call is at the server', () => runs)
  calls.fixture.executors.keep([toolOf('echo', [''], { network: [] })])
  await waitFor('the one without calls has ended', () => !isAlive(other))
  t.strictSame(await running, { ok: true, output: 'slept' })
  await waitFor('the other one has ended, too', () => !isAlive(own))
  const late = await pidOf()
  await waitFor('a call that was begun with what a manifest had leaves nothing open', () => !isAlive(late))
})

t.test('any number of servers may be opened at a time', async t => {
  const { fixture } = open(t, [''])
  const warnings = await warningsOf(async () => {
    await Promise.all(Array.from({ length: 12 }, async (_, place) => {
      const connection = { kind: 'stdio' as const, program: 'sleep', args: ['60'], env: {} }
      await fixture.executors.run(toolOf('echo', [''], { name: `silent${place}`, connection }), {}, {
        jobId: `job-${place}`, timeoutMs: 300, signal: new AbortController().signal, log: () => {}
      })
    }))
  })
  t.same(warnings, [])
})
