import type { CallResult } from '@toolyard/contract'
import t from 'tap'
import { programs } from '../e2e/tools.ts'
import { meta } from '../mcp/clients.ts'
import { injectService } from '../support/injected.ts'
import { makeKeys, testKeys } from '../support/service.ts'

const topics = ['invoice', 'customer', 'shipment', 'warehouse', 'employee', 'meeting', 'ticket', 'deployment', 'campaign', 'subscription', 'refund', 'contract', 'laboratory', 'vehicle', 'flight']
const deeds = ['create', 'delete', 'list', 'update', 'archive', 'export', 'approve', 'assign']
const entries = topics.flatMap(topic => deeds.map(deed => ({
  name: `${deed}_${topic}`,
  description: `${deed[0]?.toUpperCase()}${deed.slice(1)}s ${topic}s.`,
  schema: { type: 'object', properties: { [`${topic}_id`]: { type: 'integer' } }, additionalProperties: false },
  command: ['./tools/bin/echo']
})))
const other = [
  { name: 'sää_nyt', description: 'not published' },
  { name: 'weather_fi', description: 'Kertoo säätilan: lämpötila ja sade paikkakunnalla' },
  { name: 'weather_zh', description: '查询城市的天气预报和气温' },
  { name: 'weather_ar', description: 'يعرض حالة الطقس ودرجة الحرارة في المدينة' },
  { name: 'writer', description: 'Writes a file of the weather', permissions: ['write_files'] }
].map(entry => ({ ...entry, command: ['./tools/bin/echo'] }))
const endless = { name: 'endless', description: '"'.repeat(4_000), schema: { type: 'object', properties: { a: { type: 'string', description: 'x'.repeat(20_000) } } }, command: ['./tools/bin/echo'] }
const { keys, API_KEYS_JSON } = makeKeys({ limited: { permissions: ['read_repo'] }, weather: { namespaces: ['weather', 'nowhere'] } })
const { client } = await injectService(t, {
  files: { ...programs, 'other.json': JSON.stringify({ namespace: 'weather', tools: other }) },
  tools: [...entries.map(entry => entry.name === 'assign_flight' ? { ...entry, pinned: true, tags: ['aeroplane'] } : entry), endless],
  manifests: ['tools.json', 'other.json'],
  env: {
    CATALOGUE_LIST_MAX: '100',
    API_KEYS_JSON
  }
})

interface Found { tools: Array<{ name: string, namespace?: string, description: string, parameters: object }>, count: number }

async function ask (name: string, args: object, key: string = testKeys.admin): Promise<CallResult> {
  return await client.call(name, args, {}, key)
}

async function namesOf (query: string, more: object = {}, key: string = testKeys.admin): Promise<string[]> {
  const result = await ask('search_tools', { query, ...more }, key)
  if (!result.ok) throw new Error(JSON.stringify(result.error))
  return (result.output as Found).tools.map(({ name }) => name)
}

async function listed (
  query: string, key: string = testKeys.admin
): Promise<{ status: number, names: string[], body: Record<string, unknown> }> {
  const { status, body } = await client.request<{ tools?: Array<{ function: { name: string } }> }>(`/v1/agent-tools${query}`, { key })
  return { status, names: (body.tools ?? []).map(tool => tool.function.name), body }
}

t.test('search_tools finds tools by what they do, with their schemas, and call_tool calls one under its own name', async t => {
  const result = await ask('search_tools', { query: 'approving a refund' })
  t.match(result, { ok: true, job_id: undefined, output: { tools: [{ name: 'approve_refund', parameters: { properties: { refund_id: { type: 'integer' } } } }], count: 5 } })
  t.match(await ask('call_tool', { name: 'approve_refund', arguments: { refund_id: 7 } }), { name: 'call_tool', ok: true, output: { refund_id: 7 }, job_id: String })
  t.match(await ask('call_tool', { name: 'approve_refund', arguments: { refund_id: 'x' } }), { error: { code: 'INVALID_ARGUMENTS', message: /refund_id/ } })
  t.match(await ask('call_tool', { name: 'aprove_refund' }), { error: { code: 'UNKNOWN_TOOL', details: { did_you_mean: ['approve_refund'] } } })
  t.match(await ask('call_tool', { name: 'call_tool', arguments: { name: 'call_tool' } }), { error: { code: 'INVALID_ARGUMENTS', message: /can't call itself/ } })
  t.match(await ask('call_tool', { name: 'search_tools', arguments: { query: 'refund' } }), { ok: true, output: { count: 5 } })
  const digits = await client.request('/v1/agent-tools/invoke-batch', { body: { calls: [{ call_id: 'c', name: 'call_tool', arguments: { name: 'weather_fi', arguments: { a: 0 } } }] }, headers: {} })
  t.match(digits.text, '"output":{"a":0}')
})

t.test('a found tool that is longer than an answer is whole JSON without its parameters', async t => {
  const found = async (chars: number): Promise<Found> => {
    const { results: [result] } = await client.batch([{ call_id: 'c', name: 'search_tools', arguments: { query: 'endless' } }], { max_output_chars: chars })
    t.ok(JSON.stringify(result?.output).length <= chars, String(chars))
    t.notMatch(result, { truncated: true })
    return result?.output as Found
  }
  t.match(await found(1_000), { count: 1, tools: [{ name: 'endless', description: /^"+$/, note: /^cut: all of it has \d+ characters/ }] })
  const { body } = await client.request<object>('/v1/agent-tools/invoke-batch?format=chat&max_output_chars=1000', { body: { calls: [{ call_id: 'c', name: 'search_tools', arguments: { query: 'endless' } }] } })
  t.notMatch(JSON.stringify(body), /output_(read|search) with/, 'no job has it')
  t.match(await found(200_000), { tools: [{ name: 'endless', parameters: { type: 'object' } }] })
})

t.test('GET /v1/agent-tools?search= gives the best tools in the shape of a provider; namespace narrows, limit bounds', async t => {
  t.equal((await listed('?search=invoice+export')).names[0], 'export_invoice')
  t.equal((await listed('?search=invoice&limit=3')).names.length, 3)
  t.match((await client.request('/v1/agent-tools?search=export+invoice&format=anthropic&limit=1')).body, { tools: [{ name: 'export_invoice', input_schema: { type: 'object' } }], count: 1 })
  t.same((await listed('?namespace=weather')).names, ['weather_fi', 'weather_zh', 'weather_ar', 'writer'])
  t.same((await listed('?search=weather&namespace=weather&limit=50')).names.includes('create_invoice'), false)
  t.same((await listed('?namespace=nowhere')).names, [], 'one that nobody sees')
  t.match((await client.request('/v1/registry/weather_fi')).body, { tool: { namespace: 'weather' } })
})

t.test('a key finds what it may use, and the rest has no say', async t => {
  t.ok((await namesOf('writes a file of the weather')).includes('writer'))
  t.notOk((await namesOf('writes a file of the weather', {}, keys.limited)).includes('writer'))
})

t.test('words of other languages, one letter, and none that is there', async t => {
  t.equal((await namesOf('lämpötila'))[0], 'weather_fi')
  t.equal((await namesOf('天气'))[0], 'weather_zh')
  t.equal((await namesOf('الطقس'))[0], 'weather_ar')
  t.type(await namesOf('x'), Array)
  t.same(await namesOf('??? !!!'), [])
  t.same(await namesOf('qqqqqqqqqq zzzzzzzzz'), [])
})

t.test('what is asked wrongly is told', async t => {
  t.match(await ask('search_tools', { query: 'x'.repeat(100_000) }), { error: { code: 'INVALID_ARGUMENTS', message: /query/ } })
  t.match(await listed(`?search=${'x'.repeat(2_000)}`), { status: 400, body: { error: { code: 'VALIDATION_ERROR' } } })
  t.match(await listed('?search=x&limit=51'), { status: 400 })
  t.match(await listed('?limit=7'), { status: 400, body: { error: { message: "'limit' goes with 'search': a list is whole" } } })
  t.match(await listed('?search='), { status: 400 })
})

t.test('a list of more than CATALOGUE_LIST_MAX tools has search_tools and call_tool, and MCP gives it in pages', async t => {
  t.ok((await listed('')).names.includes('search_tools'))
  interface Page { tools?: Array<{ name: string, annotations: object }>, nextCursor?: string, error?: object }
  const rpc = async (params: object): Promise<Page> => {
    const { text } = await client.request('/mcp', {
      body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { ...params, _meta: meta } },
      headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' }
    })
    const { result, error } = JSON.parse(text.slice(text.indexOf('{'))) as { result?: object, error?: object }
    return { ...result, ...error !== undefined && { error } }
  }
  const first = await rpc({})
  t.equal(first.tools?.length, 100)
  t.ok(first.tools?.some(({ name }) => name === 'search_tools'), 'in the first page')
  const hints = first.tools?.find(({ name }) => name === 'call_tool')?.annotations
  t.match(hints, { readOnlyHint: false, destructiveHint: true, openWorldHint: true }, 'it may do whatever a tool may')
  const second = await rpc({ cursor: first.nextCursor })
  t.equal(second.nextCursor, undefined)
  t.same(new Set([...first.tools ?? [], ...second.tools ?? []].map(({ name }) => name)), new Set((await listed('')).names))
  t.match(await rpc({ cursor: 'nothing' }), { error: { message: /No such cursor/ } })
})

async function deferred (format: string, more = ''): Promise<{ names: string[], tools: Array<Record<string, unknown>>, count: number, etag: string | null }> {
  const { body, headers } = await client.request<{ tools: Array<Record<string, unknown>>, count: number }>(`/v1/agent-tools?defer=1&format=${format}${more}`)
  const { tools, count } = body
  return { tools, count, names: tools.map(tool => String(tool['name'] ?? (tool['function'] as { name: string } | undefined)?.name ?? tool['type'])), etag: headers.get('etag') }
}

t.test('?defer=1 gives Anthropic its own search and defers all tools but those that are pinned', async t => {
  const { tools, names, count, etag } = await deferred('anthropic', '&pin=output_read')
  t.same(tools[0], { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' })
  t.same(tools.filter(({ defer_loading: isDeferred }) => isDeferred !== true).map(({ name }) => name), ['tool_search_tool_bm25', 'output_read', 'assign_flight'])
  t.notOk(names.includes('call_tool'), 'what the provider does is not offered twice')
  t.ok(count > 120)
  t.equal((await client.request('/v1/agent-tools?defer=1&format=anthropic&pin=output_read', { headers: { 'if-none-match': etag ?? '' } })).status, 304)
})

t.test('?defer=1 gives the Responses API its search, namespaces of deferred functions, and pinned ones as they are', async t => {
  const { tools } = await deferred('responses')
  t.same(tools[0], { type: 'tool_search' })
  const space = tools.find(({ type }) => type === 'namespace')
  t.match(space, { name: 'weather', description: 'Tools of weather: weather_fi, weather_zh, weather_ar, writer', tools: [{ type: 'function', name: 'weather_fi', strict: false, defer_loading: true }] })
  t.match(tools.find(({ name }) => name === 'assign_flight'), { type: 'function', defer_loading: undefined })
  t.match(tools.find(({ name }) => name === 'create_invoice'), { type: 'function', defer_loading: true })
  const output = [
    { type: 'tool_search_call', id: 'a', execution: 'server', call_id: null, status: 'completed', arguments: { paths: ['weather'] } },
    { type: 'tool_search_output', id: 'b', execution: 'server', call_id: null, status: 'completed', tools: [] },
    { type: 'function_call', id: 'c', call_id: 'd', namespace: 'weather', name: 'weather_fi', arguments: '{"a":1}', status: 'completed' }
  ]
  const { body } = await client.request<{ messages: object[] }>('/v1/agent-tools/invoke-batch', { body: { output } })
  t.match(body.messages, [{ type: 'function_call_output', call_id: 'd', output: '{"a":1}' }])
})

t.test('?defer=1 gives other APIs the pinned tools and what finds the rest', async t => {
  for (const format of ['chat', 'bedrock']) {
    const { tools, count } = await deferred(format, '&pin=output_read')
    t.equal(tools.length, 4)
    t.ok(count > 120)
  }
  t.same((await deferred('chat')).names, ['search_tools', 'call_tool', 'assign_flight'])
  t.match((await deferred('gemini')).tools, [{ functionDeclarations: [{ name: 'search_tools' }, { name: 'call_tool' }, { name: 'assign_flight' }] }])
  t.match(await listed('?defer=1&pin=nothing'), { status: 400, body: { error: { message: /'pin' names 'nothing'/ } } })
  t.match(await listed('?pin=output_read'), { status: 400, body: { error: { message: /goes with 'defer=1'/ } } })
  t.match(await listed('?defer=1&search=x'), { status: 400, body: { error: { message: /'defer' is for a whole list/ } } })
})

t.test('a tool is found by its tags', async t => {
  t.equal((await namesOf('aeroplane'))[0], 'assign_flight')
})

t.test('a key that is bound to namespaces sees, finds and calls their tools alone, wherever it comes from', async t => {
  const made = await client.request<{ key: { key: string, namespaces: string[] } }>('/v1/keys', { body: { name: 'stored', role: 'admin', namespaces: ['weather'] } })
  t.same(made.body.key.namespaces, ['weather'])
  for (const key of [keys.weather, made.body.key.key]) {
    const { names } = await listed('', key)
    t.same(names.filter(name => !/^(?:job|output)_/.test(name)), ['weather_fi', 'weather_zh', 'weather_ar', 'writer'])
    t.same(await namesOf('export an invoice', { limit: 50 }, key), [])
    t.same(await namesOf('invoice', { namespace: 'elsewhere' }, key), [])
    t.match(await ask('weather_fi', {}, key), { ok: true })
    const refused = { ok: false, error: { code: 'FORBIDDEN', message: "Tool 'export_invoice' is of no namespace that this API key may use" } }
    t.match(await ask('export_invoice', {}, key), refused)
    t.match(await ask('call_tool', { name: 'export_invoice' }, key), refused)
    t.match(await ask('data.file_read', { path: 'x' }, key), { ok: false, error: { code: 'UNKNOWN_TOOL' } })
    t.equal((await client.request('/v1/registry/export_invoice', { key })).status, 404)
    t.equal((await client.request('/v1/keys', { key })).status, 403)
    t.match((await client.request('/v1/jobs', { key, body: { type: 'agentcli.export_invoice', input: {} } })).body, { error: { code: 'FORBIDDEN' } })
  }
  t.match((await client.request('/v1/auth/whoami', { key: keys.weather })).body, { auth: { namespaces: ['weather', 'nowhere'] } })
  t.match((await client.request('/v1/keys', { body: { name: 'wrong', role: 'read', namespaces: [''] } })).body, { error: { code: 'VALIDATION_ERROR', message: /'namespaces' must be an array/ } })
})

t.test('a name like ReFund is searched as one word where a tool has it so, and by its parts where none has', async t => {
  t.equal((await namesOf('export ReFund'))[0], 'export_refund')
  t.equal((await namesOf('exportRefund'))[0], 'export_refund')
})
