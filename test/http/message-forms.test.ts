import type { InvokeBatchResponse } from '@toolyard/contract'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { openReader } from '../streams/event-reader.ts'
import { injectService } from '../support/injected.ts'
import { testKeys } from '../support/service.ts'

const { client, app } = await injectService(t, { files: programs, tools: entries, env: { WORKER_CONCURRENCY: '4' } })
const path = '/v1/agent-tools/invoke-batch'

async function post (body: unknown, query = '', headers: Record<string, string> = {}): Promise<InvokeBatchResponse> {
  const answer = await client.request<InvokeBatchResponse>(path + query, { body, headers })
  t.equal(answer.status, 200, answer.text.slice(0, 300))
  return answer.body
}

/** Expects a 400 with this text. */
async function refused (t: Test, body: unknown, message: string, query = ''): Promise<void> {
  const answer = await client.request<{ error: { message: string } }>(path + query, { body })
  t.equal(answer.status, 400, message)
  t.equal(answer.body.error.message, message)
}

const chatCall = (id: string, name: unknown, args?: unknown): object => ({ id, type: 'function', function: { name, arguments: args } })
const ok = (result: unknown): string => JSON.stringify({ ok: true, result })

t.test('the tool_calls of chat completions are accepted unchanged, and answered by tool messages', async t => {
  const { results, tool_messages: toolMessages, mode, messages } = await post({
    tool_calls: [
      { ...chatCall('call_1', 'echo', '{"a": 1}'), index: 0 },
      chatCall('call_2', 'no_such_tool', '{}'),
      { id: 'call_3', function: { name: 'echo', arguments: '' } }
    ]
  })
  t.match(results, [{ call_id: 'call_1', ok: true, output: { a: 1 } }, { call_id: 'call_2', error: { code: 'UNKNOWN_TOOL' } }, { call_id: 'call_3', ok: true, output: {} }])
  t.match([toolMessages.length, mode], [3, 'sync'])
  t.same(messages, [
    { role: 'tool', tool_call_id: 'call_1', content: ok({ a: 1 }) },
    { role: 'tool', tool_call_id: 'call_2', content: toolMessages[1]?.content },
    { role: 'tool', tool_call_id: 'call_3', content: ok({}) }
  ])
})

t.test('the output of the Responses API is accepted unchanged, and answered by function_call_output', async t => {
  const { results, messages } = await post({
    output: [
      { id: 'rs_1', type: 'reasoning', summary: [] },
      { id: 'msg_1', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.', annotations: [] }] },
      { id: 'fc_1', call_id: 'call_1', type: 'function_call', status: 'completed', name: 'echo', arguments: '{"b":[2]}' },
      { id: 'ws_1', type: 'web_search_call', status: 'completed' }
    ]
  })
  t.match(results, [{ call_id: 'call_1', ok: true, output: { b: [2] } }])
  t.same(messages, [{ type: 'function_call_output', call_id: 'call_1', output: ok({ b: [2] }) }])
})

t.test("the content of Anthropic's messages is accepted unchanged, and answered by one user message", async t => {
  const { messages } = await post({
    content: [
      { type: 'thinking', thinking: 'Hm.', signature: 'x' },
      { type: 'text', text: 'I look.' },
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
      { type: 'tool_use', id: 'toolu_1', name: 'echo', input: { c: null } },
      { type: 'tool_use', id: 'toolu_2', name: 'fail', input: { stderr: 'no' } }
    ]
  })
  t.same(messages, [{
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'toolu_1', content: ok({ c: null }) },
      { type: 'tool_result', tool_use_id: 'toolu_2', content: JSON.stringify({ ok: false, error: { code: 'TOOL_FAILED', message: 'no' } }), is_error: true }
    ]
  }])
})

t.test('calls have messages only where a format is asked for, and any form may ask for any', async t => {
  const calls = [{ call_id: 'a', name: 'echo', arguments: { d: 1 } }]
  t.same(Object.keys(await post({ calls })), ['ok', 'results', 'tool_messages', 'mode'])
  t.same((await post({ calls }, '?format=chat')).messages, [{ role: 'tool', tool_call_id: 'a', content: ok({ d: 1 }) }])
  t.same((await post({ calls }, '?format=responses')).messages, [{ type: 'function_call_output', call_id: 'a', output: ok({ d: 1 }) }])
  t.same((await post({ tool_calls: [chatCall('a', 'echo', '{"d":1}')] }, '?format=anthropic')).messages, [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: ok({ d: 1 }) }] }])
  for (const query of ['?format=llama', '?format=chat&format=chat']) await refused(t, { calls }, "'format' must be one of chat, responses, anthropic, gemini, bedrock, langchain, ai-sdk, mistral, function", query)
})

t.test('a call that is still running has an answer too, whose text names the tool and the job', async t => {
  const going = { ok: false, pending: true, error: { code: 'TIMEOUT', message: 'Job did not complete within wait_ms' } }
  const late = await post({ tool_calls: [chatCall('a', 'nap', '{"ms":1500}')], wait_ms: 100 })
  const id = late.results[0]?.job_id
  t.same(JSON.parse((late.messages as Array<{ content: string }>)[0]?.content ?? ''), {
    ...going, job_id: id, message: `Tool 'nap' goes on as job ${id}; call job_result with this job_id to come back for its answer`
  })
  const { results, messages } = await post({ content: [{ type: 'tool_use', id: 'a', name: 'nap', input: { ms: 1 } }, { type: 'tool_use', id: 'b', name: 'nix', input: {} }], mode: 'async' })
  t.match(messages, [{ role: 'user', content: [{ tool_use_id: 'a' }, { tool_use_id: 'b', is_error: true }] }])
  const [{ content: [first] } = { content: [] }] = messages as Array<{ content: Array<{ content: string, is_error?: true }> }>
  t.equal(first?.is_error, undefined)
  t.same(JSON.parse(first?.content ?? ''), { ok: true, pending: true, job_id: results[0]?.job_id, message: `Tool 'nap' was started as job ${results[0]?.job_id}: its output is not there yet; call job_result with this job_id to come back for its answer` })
})

t.test("arguments that aren't JSON are their call's INVALID_ARGUMENTS, with the position; its siblings run", async t => {
  const cases: Array<[string, string]> = [
    ['{"path": "a.txt"', "',' or '}' is expected at line 1, column 17"],
    ['{"path": a.txt}', 'what is no value and no name of JSON stands at line 1, column 10'],
    ['{"a": 1,\n "b": }', 'a value is expected at line 2, column 7'],
    ["{'a': 1}", 'what is no value and no name of JSON stands at line 1, column 2'],
    ['{"a": "b\nc"}', 'a text that has no end, or a line break that must be escaped, begins at line 1, column 7'],
    ['{"a": "b', 'a text that has no end, or a line break that must be escaped, begins at line 1, column 7'],
    ['{"a": "\\x"}', 'a backslash begins no escape that JSON knows at line 1, column 7'],
    ['{}{}', 'the end is expected at line 1, column 3'],
    ['{"a": [1, 2,]}', 'a value is expected at line 1, column 13']
  ]
  for (const [text, fault] of cases) {
    const { results, messages } = await post({ tool_calls: [chatCall('a', 'echo', text), chatCall('b', 'echo', '{"e":1}')] })
    t.match(results, [{ ok: false, error: { code: 'INVALID_ARGUMENTS', message: `arguments aren't JSON: ${fault}` } }, { ok: true, output: { e: 1 } }], text)
    t.equal(messages?.length, 2)
  }
})

t.test('arguments that are no object, or hold what a body may not, are INVALID_ARGUMENTS of their call', async t => {
  const deep = (levels: number): string => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`
  const many = (count: number): string => `{${Array.from({ length: count }, (_, at) => `"${at}":0`).join()}}`
  const cases: Array<[unknown, string | undefined]> = [
    ['[]', 'arguments must be an object'], ['"text"', 'arguments must be an object'], ['5', 'arguments must be an object'], [5, 'arguments must be an object'], [[], 'arguments must be an object'],
    ['{"a":1e400}', 'arguments: the JSON holds a number that is too large for any program to hold: send it as a text, in quotes'],
    ['{"__proto__":{}}', 'arguments: the JSON holds a key __proto__, or constructor with prototype in it, which nothing here takes'],
    [deep(97), undefined], [deep(98), 'arguments: the JSON nests deeper than 100 levels'],
    [many(20_000), undefined], [many(30_001), 'arguments: the JSON holds more than 30000 objects, lists and fields: send less at once, or in a file'],
    ['null', undefined], [' \n', undefined], [null, undefined], [{ f: 1 }, undefined]
  ]
  for (const [args, message] of cases) {
    const { results: [result] } = await post({ tool_calls: [chatCall('a', 'echo', args)] })
    t.same(result?.error, message === undefined ? undefined : { code: 'INVALID_ARGUMENTS', message }, String(args).slice(0, 40))
  }
  const { results } = await post({ tool_calls: Array.from({ length: 3 }, (_, at) => chatCall(`c${at}`, 'echo', many(14_000))) })
  t.same(results.map(result => result.ok), [true, true, false], 'what all calls hold is counted together')
  t.equal((await post({ content: [{ type: 'tool_use', id: 'a', name: 'echo', input: [] }] })).results[0]?.error?.code, 'INVALID_ARGUMENTS')
})

t.test('arguments of 900 KB are accepted', async t => {
  const { results: [result] } = await post({ tool_calls: [chatCall('a', 'value', JSON.stringify({ text: 'done', rest: 'x'.repeat(900_000) }))] })
  t.equal(result?.output, 'done')
})

t.test("a message without calls has an empty answer; without a provider's field, the error is the one for missing calls", async t => {
  const empty = { ok: true, results: [], tool_messages: [], mode: 'sync', messages: [] }
  const messages: object[] = [{ tool_calls: [] }, { tool_calls: null }, { output: [] }, { output: [{ type: 'message' }] }, { content: [] }, { content: [{ type: 'text', text: 'Bye.' }] }, { content: 'Bye.' }, { content: null }]
  for (const body of messages) t.same(await post(body), empty, JSON.stringify(body))
  t.same(await post({ content: [], mode: 'async' }, '', { 'idempotency-key': 'nothing' }), { ...empty, mode: 'async' })
  for (const body of [{}, { calls: null }]) await refused(t, body, "'calls' must be an array")
  await refused(t, { calls: [] }, "'calls' must have at least 1 item")
})

t.test('two forms in one body are a 400 that names them; null is none', async t => {
  const fields = "send one of 'calls', 'tool_calls', 'output', 'content'"
  await refused(t, { calls: [], tool_calls: [] }, `'calls' and 'tool_calls' can't come together: ${fields}`)
  await refused(t, { output: [], content: [], mode: 'nonsense' }, `'output' and 'content' can't come together: ${fields}`)
  t.equal((await post({ tool_calls: [chatCall('a', 'echo', '{}')], content: null })).results.length, 1)
  await refused(t, { tool_calls: {} }, "'tool_calls' must be an array")
  await refused(t, { output: 'text' }, "'output' must be an array")
  await refused(t, { tool_calls: [], mode: 'later' }, "'mode' must be 'sync' or 'async'")
})

t.test('a message has at most 20 calls; its other parts are not counted', async t => {
  const uses = (count: number): object[] => Array.from({ length: count }, (_, at) => ({ type: 'tool_use', id: `t${at}`, name: 'nix', input: {} }))
  await refused(t, { content: uses(21) }, "'content' must have at most 20 calls")
  t.equal((await post({ content: [...Array<object>(100).fill({ type: 'text' }), ...uses(20)] })).results.length, 20)
})

t.test('a call without an id, or with an empty one, gets one made from its place; long and equal ids are accepted', async t => {
  const { messages } = await post({ tool_calls: [chatCall('a', 'echo', '{}'), { type: 'function', function: { name: 'echo' } }, chatCall('', 'echo', '{}'), { ...chatCall('', 'echo', '{}'), id: 0 }] })
  t.match(messages, [{ tool_call_id: 'a' }, { tool_call_id: 'call_at_1' }, { tool_call_id: 'call_at_2' }, { tool_call_id: '0' }])
  const { messages: [output] = [] } = await post({ output: [{ type: 'function_call', id: 'fc_1', name: 'echo', arguments: '{}' }] })
  t.match([output, (await post({ content: [{ type: 'tool_use', id: ' ', name: 'echo', input: {} }] })).messages], [{ call_id: 'fc_1' }, [{ content: [{ tool_use_id: 'call_at_0' }] }]])
  for (const [id, says] of [[{}, 'a text'], ['x'.repeat(16_385), 'at most 16384 characters']]) await refused(t, { content: [{ type: 'tool_use', id, name: 'echo', input: {} }] }, `content[0].id must be ${says as string}`)
  const long = `call_${'x'.repeat(5_000)}`
  const { results } = await post({ tool_calls: [chatCall(long, 'echo', '{"n":1}'), chatCall('same', 'echo', '{"n":2}'), chatCall('same', 'echo', '{"n":3}')] })
  t.match(results, [{ call_id: long, output: { n: 1 } }, { call_id: 'same', output: { n: 2 } }, { call_id: 'same', output: { n: 3 } }])
})

t.test('a name that is no string, a custom tool and an incomplete call get an error as answer, and do not run', async t => {
  const nameless = { code: 'UNKNOWN_TOOL', message: 'tool_calls[0] has no name that is a text, so no tool can be looked up' }
  for (const name of [5, null, undefined, '', {}]) t.match((await post({ tool_calls: [chatCall('a', name, '{}')] })).results, [{ call_id: 'a', name: '', ok: false, error: nameless }])
  t.match((await post({ tool_calls: [{ id: 'a', type: 'function' }] })).results, [{ error: nameless }])
  const custom = "'echo' was called as a custom tool, with a text; the tools here are functions"
  t.match((await post({ tool_calls: [{ id: 'a', type: 'custom', custom: { name: 'echo', input: 'SELECT 1' } }] })).results, [{ name: 'echo', error: { code: 'UNKNOWN_TOOL', message: custom } }])
  const { messages } = await post({
    output: [
      { type: 'custom_tool_call', call_id: 'a', name: 'echo', input: 'SELECT 1' },
      { type: 'function_call', call_id: 'b', name: 'echo', arguments: '', status: 'incomplete' }
    ]
  })
  t.match(messages, [{ type: 'custom_tool_call_output', call_id: 'a', output: /custom tool/ }, { type: 'function_call_output', call_id: 'b', output: /ended before the call was complete/ }])
})

t.test('RC23 an Idempotency-Key gives the same jobs in any form', async t => {
  const headers = { 'idempotency-key': 'one-turn' }
  const first = await post({ tool_calls: [chatCall('a', 'echo', '{"x":1}'), chatCall('b', 'echo', '{"x":')] }, '', headers)
  const again = await post({ tool_calls: [chatCall('a', 'echo', '{ "x": 1 }'), chatCall('b', 'echo', '{"x":')] }, '?format=responses', headers)
  t.same(again.results, first.results)
  const plain = { 'idempotency-key': 'plain' }
  const call = await post({ calls: [{ call_id: 'a', name: 'echo', arguments: { y: 1 } }] }, '', plain)
  t.same((await post({ content: [{ type: 'tool_use', id: 'a', name: 'echo', input: { y: 1 } }] }, '', plain)).results, call.results)
})

t.test('events name the jobs, and the last one has the messages', async t => {
  const address = await app.listen({ port: 0 })
  const reader = await openReader(t, `${address}${path}`, { key: testKeys.admin, body: { tool_calls: [chatCall('a', 'echo', '{}'), chatCall('b', 'echo', '{')] } })
  await reader.ended()
  const [early, late, end] = reader.events.map(({ data }) =>
    data as { result: { job_id?: string }, messages: object[], results: Array<{ job_id?: string }> })
  t.match([early?.result, late?.result], [{ call_id: 'b', error: { code: 'INVALID_ARGUMENTS' } }, { call_id: 'a', job_id: String }])
  t.equal(early?.result.job_id, undefined)
  t.equal(end?.results[0]?.job_id, late?.result.job_id)
  t.match(end?.messages, [{ role: 'tool', tool_call_id: 'a' }, { role: 'tool', tool_call_id: 'b' }])
})

t.test('no list of JSON values causes a fault, and each call in it has exactly one answer', async t => {
  const name = fc.oneof(fc.constantFrom('nix', 'off', ''), fc.jsonValue())
  const args = fc.oneof(fc.constantFrom('{}', '{', '[]', '"', '{"a":1}', '\\u0000'), fc.string(), fc.jsonValue())
  const id = fc.string({ minLength: 1 }).map(text => `c${text}`)
  const forms = {
    tool_calls: fc.record({ id, type: fc.constantFrom('function', 'custom', null), function: fc.record({ name, arguments: args }, { requiredKeys: [] }) }),
    output: fc.record({ call_id: id, type: fc.constantFrom('function_call', 'custom_tool_call'), name, arguments: args, status: fc.constantFrom('completed', 'incomplete', null) }),
    content: fc.record({ id, type: fc.constant('tool_use'), name, input: args })
  }
  const others = fc.oneof(fc.jsonValue(), fc.record({ type: fc.constantFrom('text', 'reasoning', 'message', 'thinking'), id: fc.jsonValue() })).filter(isNoCall)
  for (const [field, call] of Object.entries(forms) as Array<[string, fc.Arbitrary<{ id?: string, call_id?: string }>]>) {
    const entries = fc.array(fc.oneof(call.map(is => ({ is })), others.map(other => ({ other }))), { maxLength: 20 })
    await t.resolves(fc.assert(fc.asyncProperty(entries, async items => {
      const wanted = items.flatMap(item => 'is' in item ? [item.is.id ?? item.is.call_id] : [])
      const { status, body } = await client.request<InvokeBatchResponse>(path, { body: { [field]: items.map(item => 'is' in item ? item.is : item.other) } })
      // A value that no body may hold is refused as a whole.
      if (status !== 200) return status === 400
      const answered = (body.messages ?? []).flatMap((message): object[] => 'role' in message && message.role === 'user' && 'content' in message ? message.content : [message]) as Array<Record<string, unknown>>
      t.same(body.results.map(result => result.call_id), wanted)
      t.same(answered.map(message => message['tool_call_id'] ?? message['call_id'] ?? message['tool_use_id']), wanted)
      return true
    }), { numRuns: 60 }), field)
    const garbage = fc.array(fc.oneof(fc.jsonValue(), call, others), { maxLength: 25 })
    await t.resolves(fc.assert(
      fc.asyncProperty(garbage, async items => [200, 400].includes((await client.request(path, { body: { [field]: items } })).status)),
      { numRuns: 60 }
    ), field)
  }
})

function isNoCall (value: unknown): boolean {
  const type = (value as { type?: unknown } | null)?.type
  return typeof value !== 'object' || (type !== undefined && type !== null) || !('function' in (value ?? {}))
}
