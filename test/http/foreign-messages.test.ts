import type { InvokeBatchResponse } from '@toolyard/contract'
import t, { type Test } from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { injectService } from '../support/injected.ts'
import { providerMessages, toolText } from '../client/provider-messages.ts'

const { client } = await injectService(t, { files: programs, tools: entries, env: { WORKER_CONCURRENCY: '4' } })
const path = '/v1/agent-tools/invoke-batch'

async function post (body: unknown, query = ''): Promise<InvokeBatchResponse> {
  const answer = await client.request<InvokeBatchResponse>(path + query, { body })
  t.equal(answer.status, 200, answer.text.slice(0, 300))
  return answer.body
}

async function refused (t: Test, body: unknown, message: string | RegExp): Promise<void> {
  const answer = await client.request<{ error: { message: string } }>(path, { body })
  t.equal(answer.status, 400, JSON.stringify(body))
  t.match(answer.body.error, { message })
}

for (const { who, message, answers } of providerMessages) {
  t.test(`the calls of ${who} are answered in the shape that it expects`, async t => {
    t.strictSame((await post(message)).messages, answers)
  })
}

t.test('in answers for Gemini, whose numbers are doubles, digits that one does not hold are texts', async t => {
  const answer = async (output: string): Promise<string> => (
    await client.request(path, { body: { parts: [{ functionCall: { name: 'value', args: { text: output } } }] } })
  ).text
  const response = (result: string): string => `"functionResponse":{"name":"value","response":{"ok":true,"result":${result}}}`
  for (const rounded of ['725653563933458432', '-725653563933458432', '9007199254740993', '100000000000000000000', '0.1234567890123456789']) {
    t.ok((await answer(`{"a":[${rounded}],"1":1.0}`)).includes(response(`{"a":["${rounded}"],"1":1.0}`)), rounded)
  }
  for (const kept of ['9007199254740991', '-0', '1e2', '0.10000000000000001', '2.5e-300', '1e21', '"725653563933458432"', '"a 725653563933458432"']) {
    t.ok((await answer(`{"a":[${kept}],"1":1.0}`)).includes(response(`{"a":[${kept}],"1":1.0}`)), kept)
  }
})

const openAiCall = (id: string): object => ({ id, type: 'function', function: { name: 'echo', arguments: '{"a":1}' } })

t.test('a call of a stream that a library has put together has its arguments beside an empty input', async t => {
  const { results } = await post({ content: [{ type: 'tool_use', id: 'a', name: 'echo', input: {}, index: 1, partial_json: '{"a": 1}' }] })
  t.match(results, [{ ok: true, output: { a: 1 } }])
})

t.test('a whole message may have options beside it; a misspelt one is refused where the message is no whole', async t => {
  t.equal((await post({ choices: [{ message: { role: 'assistant', tool_calls: [openAiCall('a')] } }], wait_ms: 5_000, mode: 'async' })).mode, 'async')
  await refused(t, { tool_calls: [openAiCall('a')], wait_sm: 5_000 }, /'wait_sm' is not a known field/)
  await refused(t, { choices: [], wait_ms: 1 }, "'wait_ms' must be an integer 100..60000")
  await refused(t, { entries: [openAiCall('a')] }, /'entries' is not a known field/)
})

t.test("what isn't known is a 400 that names the item", async t => {
  await refused(t, { content: [{ type: 'text', text: 'x' }, { type: 'frobnicate', name: 'echo' }] }, /content\[1\] is of the type 'frobnicate', which is not known here/)
  await refused(t, { output: [{ do: 'echo' }] }, /output\[0\] has a shape that is not known here/)
  await refused(t, { tool_calls: [5] }, 'tool_calls[0] must be an object')
  await refused(t, { choices: [{ message: { tool_calls: [{ type: 'poke' }] } }] }, /choices\[0\]\.message\.tool_calls\[0\] is of the type 'poke'/)
  await refused(t, { message: 'call echo' }, "'message' must be an object")
  await refused(t, { parts: [{ poke: {} }] }, /parts\[0\] has a shape/)
  await refused(t, { content: [{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: {} } }] }, /send it to \/mcp/)
  await refused(t, { content: [{ type: 'tool-invocation', toolInvocation: { state: 'call', toolName: 'echo' } }] }, /content\[0\] is of the type 'tool-invocation'/)
})

t.test('pieces of a stream are a 400 that says what to do', async t => {
  const pieces = [
    { object: 'chat.completion.chunk', choices: [{ delta: { tool_calls: [] } }] },
    { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: '{"a' } }] } }] },
    { tool_calls: [{ index: 0, function: { arguments: '{"a' } }] },
    { tool_calls: [{ name: null, args: '{"a', id: null, index: 0, type: 'tool_call_chunk' }] },
    { type: 'content_block_delta', index: 1, content: [], delta: { type: 'input_json_delta', partial_json: '{' } },
    { content: [{ type: 'tool-call-delta', toolCallId: 'a', argsTextDelta: '{' }] },
    { type: 'response.output_item.done', response: null, item: {} }
  ]
  for (const piece of pieces) await refused(t, piece, /is a piece of a stream: put the pieces together and send the whole message/)
})

t.test('what a provider or the agent runs itself has no answer', async t => {
  const items = [
    { output: [{ type: 'web_search_call', id: 'a', status: 'completed' }, { type: 'mcp_call', id: 'b', name: 'x', arguments: '{}' }, { type: 'reasoning', id: 'c', summary: [] }, { type: 'local_shell_call' }] },
    { content: [{ type: 'server_tool_use', id: 'a', name: 'web_search', input: {} }, { type: 'web_search_tool_result', tool_use_id: 'a', content: [] }, { type: 'redacted_thinking', data: 'x' }] },
    { content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'web_search', input: {}, providerExecuted: true }, { type: 'reasoning', text: 'x' }] },
    { output: [{ type: 'program', id: 'a', call_id: 'b', code: '1' }, { type: 'program_output', id: 'c', call_id: 'b', result: '1' }, { type: 'additional_tools', id: 'd', role: 'developer', tools: [] }] },
    { content: [{ type: 'mcp_tool_listing', server_name: 'x', tools: [] }, { type: 'advisor_tool_result', tool_use_id: 'a', content: {} }] },
    { content: [{ type: 'custom', kind: 'openai.compaction' }, { type: 'reasoning-file', mediaType: 'image/png', data: 'x' }, { type: 'text', text: 'x' }] },
    { content: [{ type: 'server_tool_call', id: 'a', name: 'x', args: {} }, { type: 'server_tool_call_result', toolCallId: 'a', status: 'success', output: 1 }] },
    { parts: [{ text: 'x', mediaProcessing: {} }, { audioTranscription: { text: 'x' } }, { inlineData: {}, speechMetadata: {} }] },
    { parts: [{ text: 'x', thought: true }, { executableCode: { language: 'PYTHON', code: '1' } }, { codeExecutionResult: {} }, { thoughtSignature: 'x' }] },
    { output: { message: { role: 'assistant', content: [{ text: 'x' }, { reasoningContent: { reasoningText: { text: 'x' } } }] } }, stopReason: 'end_turn' },
    { message: { role: 'assistant', content: 'Bye.' }, done: true },
    { choices: [{ message: { role: 'assistant', content: 'Bye.', tool_calls: null, function_call: null } }] },
    { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 1 }, modelVersion: 'x' }, { prompt_feedback: { block_reason: 'SAFETY' }, candidates: null },
    { choices: [] }, { candidates: [{ content: {}, finishReason: 'STOP' }] }, { role: 'assistant', content: null }
  ]
  for (const body of items) t.strictSame((await post(body)).messages, [], JSON.stringify(body))
})

t.test('the answer to a call that a program of the Responses API has made says whose it is', async t => {
  const call = { type: 'function_call', call_id: 'a', name: 'echo', arguments: '{"a":1}' }
  const caller = { type: 'program', caller_id: 'p' }
  const { messages } = await post({ output: [{ type: 'program', id: 'x', call_id: 'p', code: 'echo()' }, { ...call, caller }, { ...call, caller: { type: 'direct' } }] })
  const answer = { type: 'function_call_output', call_id: 'a', output: toolText }
  t.strictSame(messages, [{ ...answer, caller }, answer])
})

t.test("LangChain's calls that couldn't be read are answered too, and those that stand twice run once", async t => {
  const { results } = await post({
    type: 'ai',
    content: [{ type: 'text', text: 'x' }, { type: 'tool_use', id: 'a', name: 'echo', input: {} }, { type: 'input_json_delta', index: 1, input: '{}' }],
    tool_calls: [{ name: 'echo', args: { a: 1 }, id: 'a', type: 'tool_call' }],
    invalid_tool_calls: [{ name: 'echo', args: '{"a":', id: 'b', error: 'Unexpected end', type: 'invalid_tool_call' }],
    additional_kwargs: { tool_calls: [openAiCall('a')] }
  })
  t.match(results, [{ call_id: 'a', output: { a: 1 } }, { call_id: 'b', error: { code: 'INVALID_ARGUMENTS' } }])
  t.equal(results.length, 2)
})

t.test('calls that stand in two lists, or are of two shapes, are a 400', async t => {
  await refused(t, { tool_calls: [openAiCall('a')], content: [{ type: 'tool_use', id: 'b', name: 'echo', input: {} }] }, /content\[0\] and tool_calls\[0\] can't come together/)
  await refused(t, { content: [{ type: 'tool_use', id: 'b', name: 'echo', input: {} }, { toolUse: { toolUseId: 'c', name: 'echo', input: {} } }] }, /content\[1\] has another shape than content\[0\]/)
  const choice = { message: { tool_calls: [openAiCall('a')] } }
  await refused(t, { choices: [choice, choice] }, /choices\[1\] has calls beside those of another/)
  t.equal((await post({ choices: [{ message: { content: 'x' } }, choice] })).results.length, 1)
})

t.test('the last call of a message that ended at its limit does not run', async t => {
  const cut = { code: 'INVALID_ARGUMENTS', message: "the model's message ended before the call was complete" }
  const bodies = [
    { choices: [{ finish_reason: 'length', message: { tool_calls: [openAiCall('a'), openAiCall('b')] } }] },
    { type: 'message', stop_reason: 'max_tokens', content: ['a', 'b'].map(id => ({ type: 'tool_use', id, name: 'echo', input: {} })) },
    { output: { message: { content: ['a', 'b'].map(id => ({ toolUse: { toolUseId: id, name: 'echo', input: {} } })) } }, stopReason: 'max_tokens' },
    { candidates: [{ finishReason: 'MAX_TOKENS', content: { parts: ['a', 'b'].map(id => ({ functionCall: { id, name: 'echo', args: {} } })) } }] }
  ]
  for (const body of bodies) t.match((await post(body)).results, [{ ok: true }, { ok: false, error: cut }], JSON.stringify(body))
})

t.test('any format may be asked for, whatever shape the calls have', async t => {
  const calls = [{ call_id: 'a', name: 'echo', arguments: { a: 1 } }]
  const messages = async (format: string): Promise<unknown> => (await post({ calls }, `?format=${format}`)).messages
  t.strictSame(await messages('gemini'), [{ role: 'user', parts: [{ functionResponse: { id: 'a', name: 'echo', response: { ok: true, result: { a: 1 } } } }] }])
  t.strictSame(await messages('bedrock'), [{ role: 'user', content: [{ toolResult: { toolUseId: 'a', content: [{ text: toolText }], status: 'success' } }] }])
  t.strictSame(await messages('ai-sdk'), [{ role: 'tool', content: [{ type: 'tool-result', toolCallId: 'a', toolName: 'echo', output: { type: 'text', value: toolText } }] }])
  t.strictSame(await messages('function'), [{ role: 'function', name: 'echo', content: toolText }])
})

t.test('a key that nothing takes, in arguments that are an object, refuses its call alone: a model may be led to write it', async t => {
  const problem = 'arguments: the JSON holds a key __proto__, or constructor with prototype in it, which nothing here takes'
  const shapes: Array<(args: string, id: string) => string> = [
    (args, id) => `{"type":"tool_use","id":"${id}","name":"echo","input":${args}}`,
    (args, id) => `{"toolUse":{"toolUseId":"${id}","name":"echo","input":${args}}}`,
    (args, id) => `{"functionCall":{"id":"${id}","name":"echo","args":${args}}}`
  ]
  for (const shape of shapes) {
    for (const args of ['{"__proto__":{"a":1}}', '{"a":[{"__proto__":1}]}', '{"constructor":{"prototype":1}}', '{"\\u005f_proto__":1,"n":1e400}']) {
      const { results, messages } = await post(`{"content":[${shape(args, 'one')},${shape('{"a":1}', 'two')}]}`)
      t.match(results, [{ call_id: 'one', ok: false, error: { code: 'INVALID_ARGUMENTS', message: problem } }, { call_id: 'two', ok: true, output: { a: 1 } }], args)
      t.match(JSON.stringify(messages), /which nothing here takes/)
    }
    t.match((await post(`{"content":[${shape('{"a":1}', 'one')}],"usage":{"__proto__":{"ok":false}},"role":"assistant"}`)).results, [{ ok: true }], 'elsewhere nobody reads it')
    await refused(t, `{"content":[${shape(`{"__proto__":1,"a":${'['.repeat(100)}${']'.repeat(100)}}`, 'one')}]}`, /nests deeper than/)
  }
  await refused(t, '{"tool_calls":[],"__proto__":{"mode":"async"}}', /holds a key __proto__/)
  await refused(t, '{"calls":[{"call_id":"a","name":"echo","arguments":{"__proto__":1}}]}', /holds a key __proto__/)
  t.equal(({} as { a?: unknown }).a, undefined)
})
