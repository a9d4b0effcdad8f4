import type { CallResult } from '@toolyard/contract'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { reach, submit } from '../jobs/submission.ts'
import { meta } from '../mcp/clients.ts'
import { injectService } from '../support/injected.ts'
import { makeKeys, testKeys } from '../support/service.ts'

const { keys, API_KEYS_JSON } = makeKeys({ acme: { tenant: 'acme' }, other: { tenant: 'other' } })
const rows = `#!/usr/bin/env node
const items = Array.from({ length: 4000 }, (_, id) => ({ id, name: 'item ' + id, note: 'ä'.repeat(40), 'a/b': { '~': 12345678901234567890n } }))
process.stdout.write(JSON.stringify({ items, total: 4000 }, (_, value) => typeof value === 'bigint' ? 0 : value).replaceAll('"~":0', '"~":12345678901234567890'))
`
const lines = `#!/usr/bin/env node
process.stderr.write('began\\nhalf way: 50 %\\ndone\\n')
process.stdout.write(Array.from({ length: 20000 }, (_, line) => 'line ' + (line + 1) + ' of a long text 😀').join('\\n'))
`
const odd = `#!/usr/bin/env node
process.stdout.write(JSON.stringify({ ['k'.repeat(30000)]: 'needle', quotes: '"'.repeat(700) + 'thread' + '\\x01'.repeat(2000) }))
`
const { client } = await injectService(t, {
  files: { ...programs, 'tools/bin/rows': rows, 'tools/bin/lines': lines, 'tools/bin/odd': odd },
  tools: [...entries, { name: 'rows', command: ['./tools/bin/rows'] }, { name: 'lines', command: ['./tools/bin/lines'] }, { name: 'odd', command: ['./tools/bin/odd'] }],
  env: {
    MAX_OUTPUT_BYTES: '2097152',
    API_KEYS_JSON
  }
})
interface Part {
  text: string
  offset: number
  next_offset?: number
  total_chars: number
  lines: string
  next_lines?: string
  total_lines: number
  items: string
  next_items?: string
  total_items: number
  value: unknown
  matches: Array<{ line: number, column: number, text: string, offset?: number, pointer?: string, before?: string[], after?: string[] }>
  next_cursor?: string
}

async function ask (
  name: string, args: object, { key = testKeys.admin, ...rest }: { key?: string } & Record<string, unknown> = {}
): Promise<CallResult> {
  return await client.call(name, args, rest, key)
}

async function part (name: string, args: object, rest: Record<string, unknown> = {}): Promise<Part> {
  const result = await ask(name, args, rest)
  if (!result.ok) throw new Error(`${name} ${JSON.stringify(args)}: ${JSON.stringify(result.error)}`)
  return result.output as Part
}

async function jobOf (name: string, args: object = {}, rest: Record<string, unknown> = {}): Promise<string> {
  const result = await ask(name, args, { wait_ms: 60_000, ...rest })
  if (!result.ok) throw new Error(JSON.stringify(result.error))
  return result.job_id ?? ''
}

const text = Array.from({ length: 20_000 }, (_, line) => `line ${line + 1} of a long text 😀`).join('\n')
const textJob = await jobOf('lines')
const rowsJob = await jobOf('rows')

t.test('output_read reads a text from where its preview ended to its end, and no answer is cut again', async t => {
  const { messages } = (await client.request<{ messages: Array<{ content: string }> }>('/v1/agent-tools/invoke-batch?format=chat', {
    body: { calls: [{ call_id: 'c', name: 'job_result', arguments: { job_id: textJob } }] }
  })).body
  const { result, message } = JSON.parse(messages[0]?.content ?? '') as { result: { preview: string }, message: string }
  const from = Number(/"offset": (\d+)/.exec(message)?.[1])
  let read = (JSON.parse(`${result.preview}"`) as string).slice(0, from)
  for (let offset: number | undefined = from, parts = 0; offset !== undefined; parts++) {
    if (parts > 100) return t.fail('it does not come to an end')
    const page: Part = await part('output_read', { job_id: textJob, offset })
    t.notMatch(page, { truncated: true })
    t.ok(JSON.stringify(page).length <= 12_000)
    read += page.text
    offset = page.next_offset
  }
  t.equal(read, text)
})

t.test('output_read reads ranges of characters and of lines, and no half of a character', async t => {
  const at = text.indexOf('😀')
  t.match(await part('output_read', { job_id: textJob, offset: at + 1, limit: 3 }), { offset: at, text: '😀\nl'.slice(0, 3), total_chars: text.length })
  t.match(await part('output_read', { job_id: textJob, offset: text.length }), { text: '', next_offset: undefined })
  t.match(await part('output_read', { job_id: textJob, lines: '7-8' }), { lines: '7-8', text: text.split('\n').slice(6, 8).join('\n'), total_lines: 20_000 })
  const page = await part('output_read', { job_id: textJob, lines: '19000-' })
  t.match(page, { lines: /^19000-19\d+$/, next_lines: /^19\d+-20000$/ })
  t.match(await part('output_read', { job_id: textJob, lines: page.next_lines }, { max_output_chars: 200_000 }), { next_lines: undefined })
  t.equal((await part('output_read', { job_id: textJob, limit: 150_000 }, { max_output_chars: 200_000 })).text, text.slice(0, 150_000))
})

t.test('parts of JSON have their pointers, lists their ranges, and digits stay', async t => {
  const item = { id: 7, name: 'item 7', note: 'ä'.repeat(40) }
  t.match(await part('output_read', { job_id: rowsJob, pointer: '/items/7' }), { pointer: '/items/7', value: item })
  const digits = await client.request('/v1/tools/output_read', { body: { job_id: rowsJob, pointer: '/items/7/a~1b' } })
  t.match(digits.text, '"value":{"~":12345678901234567890}')
  t.match(await part('output_read', { job_id: rowsJob, pointer: '/items/7/name' }), { text: 'item 7', total_chars: 6 })
  const page = await part('output_read', { job_id: rowsJob, pointer: '/items', items: '10-3999' })
  t.match(page, { items: /^10-\d+$/, next_items: /^\d+-3999$/, total_items: 4_000 })
  t.match(page.value, [{ id: 10 }, { id: 11 }])
  t.match(await part('output_read', { job_id: rowsJob, pointer: '/items', items: '3999-' }), { items: '3999-3999', value: [{ id: 3_999 }], next_items: undefined })
  t.match(await part('output_read', { job_id: rowsJob, lines: '1-4' }), { text: '{\n  "items": [\n    {\n      "id": 0,' })
})

t.test('output_search finds lines with those around them, in pages, and says where they are', async t => {
  const found = await part('output_search', { job_id: textJob, pattern: '^line (77|78) ', context: 1 })
  t.match(found.matches, [
    { line: 77, column: 1, offset: text.indexOf('line 77 '), before: [/^line 76 /], after: [/^line 78 /] }, { line: 78, column: 1 }
  ])
  const page = await part('output_search', { job_id: textJob, pattern: 'LONG text', limit: 30, context: 0 })
  t.equal(page.matches.length, 30)
  t.match(await part('output_search', { job_id: textJob, pattern: 'LONG text', limit: 1, context: 0, cursor: page.next_cursor }), { matches: [{ line: 31 }] })
  t.same((await part('output_search', { job_id: textJob, pattern: 'LONG', case_sensitive: true })).matches, [])
  const [match] = (await part('output_search', { job_id: rowsJob, pattern: '"item 1234"' })).matches
  t.match(match, { pointer: '/items/1234/name', text: /^ {6}"name": "item 1234",$/ })
})

t.test('the log of a job, also of one that failed, is read and searched the same way', async t => {
  t.match(await part('output_read', { job_id: textJob, of: 'log' }), { text: 'began\nhalf way: 50 %\ndone' })
  t.match(await part('output_search', { job_id: textJob, of: 'log', pattern: '\\d+ %', context: 0 }), { matches: [{ line: 2, text: 'half way: 50 %' }] })
})

t.test('what is asked wrongly is told with the argument and what to do', async t => {
  const refused: Array<[args: object, message: RegExp]> = [
    [{ job_id: textJob, offset: 10_000_000 }, /^offset: is behind the end: there are \d+ characters$/],
    [{ job_id: textJob, lines: '20001' }, /^lines: begin behind the end: there are 20000 lines$/],
    [{ job_id: textJob, lines: '3-1' }, /^lines: 3-1 ends before it begins$/],
    [{ job_id: textJob, lines: '1', offset: 3 }, /^offset: lines and offset can't come together/],
    [{ job_id: textJob, pointer: '/a' }, /^pointer: it is a text and no JSON/],
    [{ job_id: rowsJob, pointer: 'a' }, /^pointer: a JSON Pointer is empty or begins with \//],
    [{ job_id: rowsJob, pointer: '/items/4000' }, /^pointer: \/items is a list of 4000 items/],
    [{ job_id: rowsJob, pointer: '/nope' }, /^pointer: the output has no "nope"; it has "items", "total"$/],
    [{ job_id: rowsJob, items: '0-3' }, /^items: the output is an object and no list/],
    [{ job_id: rowsJob, pointer: '/items', items: '4000-' }, /^items: begin behind the end: the list has 4000 items$/]
  ]
  for (const [args, message] of refused) t.match(await ask('output_read', args), { ok: false, error: { code: 'INVALID_ARGUMENTS', message } }, JSON.stringify(args))
  for (const pattern of ['(?=a)', '(a)\\1', '(']) {
    t.match(await ask('output_search', { job_id: textJob, pattern }), { ok: false, error: { code: 'INVALID_ARGUMENTS', message: /^pattern: is no expression of RE2/, details: { issues: [{ path: '/pattern' }] } } })
  }
  t.match(await ask('output_search', { job_id: textJob, pattern: '(a+)+$' }), { ok: true }, 'one that backtracks elsewhere')
  const failed = await ask('fail', { stderr: 'no luck' })
  t.match(await ask('output_read', { job_id: failed.job_id }), { error: { message: /^job_id: job '.*' failed and has no output: TOOL_FAILED/ } })
  const late = await submit(client, { type: 'agentcli.echo', delay_ms: 60_000 })
  t.match(await ask('output_read', { job_id: late.id }), { error: { message: /still goes on and has no output yet/ } })
})

t.test('a job of another tenant or session is none, and one of the own session is', async t => {
  const [one, two] = [await client.session(keys.acme), await client.session(keys.acme)]
  const job = await jobOf('big', { char: 'x', count: 20_000 }, { key: keys.acme, session: one })
  const told = async (rest: Record<string, unknown>): Promise<boolean> => (await ask('output_read', { job_id: job }, rest)).ok
  const own = [await told({ key: keys.acme, session: one }), await told({ key: keys.acme })]
  const others = [await told({ key: keys.acme, session: two }), await told({ key: keys.other })]
  t.same([own, others], [[true, true], [false, false]])
  t.match(await ask('output_search', { job_id: job, pattern: 'x' }, { key: keys.other }), { error: { code: 'INVALID_ARGUMENTS', message: /there is no job/ } })
})

t.test('in a session a large output is also a file, .txt or .json, and a small one is none', async t => {
  const session = await client.session()
  const big = await ask('lines', {}, { session, wait_ms: 60_000 })
  t.match(big, { ok: true, files: [{ path: `outputs/${big.job_id}.txt`, size: Buffer.byteLength(text), type: /^text\/plain/ }] })
  const json = await ask('rows', {}, { session, wait_ms: 60_000 })
  t.match(json, { files: [{ path: `outputs/${json.job_id}.json`, type: /json/ }] })
  t.match(await ask('echo', { a: 1 }, { session }), { ok: true, files: undefined })
  const read = await ask('data_file_read', { path: `outputs/${big.job_id}.txt`, max_bytes: 1_000_000 }, { session, max_output_chars: 200_000 })
  t.match(read, { ok: true, output: { preview: /"content_text":"line 1 of a long text 😀/ }, files: undefined }, 'a file that is read is not written again')
})

t.test('a large output is no file where the session has no room for it, and the call succeeds', async t => {
  const session = await client.session(undefined, { quota_bytes: 50_000 })
  t.match(await ask('big', { char: 'x', count: 60_000 }, { session }), { ok: true, files: undefined })
})

t.test('max_output_chars chooses the cut and shows the end, too; in the body it wins over the query', async t => {
  const shown = async (query: string, body: object): Promise<{ preview: string, tail: string, bytes: number }> => {
    const answer = await client.request<{ results: CallResult[] }>(`/v1/agent-tools/invoke-batch${query}`, { body: { ...body, calls: [{ call_id: 'c', name: 'job_result', arguments: { job_id: textJob } }] } })
    return answer.body.results[0]?.output as never
  }
  const json = JSON.stringify(text)
  t.match(await shown('', { max_output_chars: 1_000 }), { truncated: true, bytes: Buffer.byteLength(json), preview: json.slice(0, 750), tail: json.slice(-250) })
  t.match(await shown('?max_output_chars=4000', {}), { preview: json.slice(0, 3_000), tail: json.slice(-1_000) })
  t.match(await shown('?max_output_chars=4000', { max_output_chars: 1_000 }), { preview: json.slice(0, 750) })
  t.match(await shown('', {}), { preview: json.slice(0, 12_000), tail: undefined }, 'the documented form')
  for (const bad of [999, 200_001, 1.5, '1000']) {
    t.match((await client.request('/v1/agent-tools/invoke-batch', { body: { calls: [{ call_id: 'c', name: 'echo' }], max_output_chars: bad } })).body, { error: { code: 'VALIDATION_ERROR', message: "'max_output_chars' must be an integer 1000..200000" } })
  }
  t.match((await client.request('/v1/agent-tools/invoke-batch?max_output_chars=x', { body: { calls: [{ call_id: 'c', name: 'echo' }] } })).body, { error: { message: "'max_output_chars' must be an integer 1000..200000" } })
})

t.test('the notice of a cut answer is in every form of providers, and in MCP where the address bounds outputs', async t => {
  for (const format of ['chat', 'responses', 'anthropic', 'gemini', 'bedrock', 'langchain', 'ai-sdk', 'mistral', 'function']) {
    const { messages } = (await client.request<{ messages: unknown }>(`/v1/agent-tools/invoke-batch?format=${format}`, { body: { calls: [{ call_id: 'c', name: 'job_result', arguments: { job_id: rowsJob } }] } })).body
    t.match(JSON.stringify(messages), /output_read with .*output_search with/, format)
  }
  const mcp = async (query: string, name: string, args: object): Promise<{ content: Array<{ text: string }> }> => {
    const { text } = await client.request(`/mcp${query}`, {
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta: meta } },
      headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name }
    })
    return (JSON.parse(text.slice(text.indexOf('{'))) as { result: never }).result
  }
  const bounded = await mcp('?max_output_chars=5000', 'job_result', { job_id: rowsJob })
  t.match(bounded.content, [{ text: /^\{"truncated":true,"bytes":\d+,"preview":"\{/ }, { text: /output_read with .*"offset": 3750} reads on, output_search/ }])
  t.ok(((await mcp('', 'job_result', { job_id: rowsJob })).content[0]?.text.length ?? 0) > 400_000)
  t.match(await mcp('?max_output_chars=5000', 'output_read', { job_id: rowsJob, offset: 3_750 }), { structuredContent: { offset: 3_750 } })
})

t.test('a batch that searches outputs takes a few threads, however many calls it has', async t => {
  const job = await jobOf('lines')
  const threads = (): number => Number(/Threads:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1])
  const before = threads()
  let most = before
  const timer = setInterval(() => { most = Math.max(most, threads()) }, 5)
  const calls = Array.from({ length: 20 }, (_, at) => ({ call_id: String(at), name: 'output_search', arguments: { job_id: job, pattern: `line ${at}.*text` } }))
  const { results } = await client.batch(calls, {}, testKeys.admin)
  clearInterval(timer)
  t.equal(results.filter(({ ok }) => ok).length, 20)
  t.ok(most <= before + 5, `${before} threads, then ${most}`)
})

t.test('what output_search finds fits into the shortest answer: a long pointer is left out, and a line begins at the match', async t => {
  const job = await jobOf('odd')
  for (const [pattern, line] of [['needle', 2], ['thread', 3]] as const) {
    const found = await part('output_search', { job_id: job, pattern }, { max_output_chars: 1_000 })
    t.match(found, { matches: [{ line, text: pattern }] })
    t.ok(JSON.stringify(found).length <= 1_000)
  }
  const long = await part('output_search', { job_id: job, pattern: 'needle' })
  t.equal(long.matches[0]?.pointer, undefined, 'output_read takes none of this length')
})

t.test('a model that does not see the tools is told of none', async t => {
  for (const type of ['output.read', 'output.search']) await client.request(`/v1/job-types/${type}`, { method: 'PATCH', body: { enabled: false } })
  const { tool_messages: [message] } = await client.batch([{ call_id: 'c', name: 'job_result', arguments: { job_id: textJob } }])
  t.notMatch(message?.content, 'output_read')
  await reach(client, textJob, 'succeeded')
})
