import { exactJson, Toolyard } from '@toolyard/client'
import t from 'tap'
import { join } from 'node:path'
import { createService, testKeys } from '../support/service.ts'
import { runPython, withoutPython } from '../other-clients/python.ts'
import { providerMessages } from './provider-messages.ts'
import { clientFiles, clientTools } from './tools.ts'

const service = await createService(t, { tools: clientTools, files: clientFiles })
const toolyard = new Toolyard({ url: service.api.address, apiKey: testKeys.admin })
const args = { a: 1, b: 2 }
const ids = (count: number): string[] => Array.from({ length: count }, (_, at) => `c${at}`)
/** The tool isn't there, so that many calls cost little. */
const manyCalls = ids(45).map(id => ({ id, type: 'function' as const, function: { name: 'no_such_tool', arguments: '{}' } }))
const messages = {
  chat: { role: 'assistant', content: null, tool_calls: [{ id: 'c0', type: 'function', function: { name: 'add', arguments: JSON.stringify(args) } }] },
  responses: { output: [{ type: 'reasoning', id: 'r1', summary: [] }, { type: 'function_call', id: 'f1', call_id: 'c0', name: 'add', arguments: JSON.stringify(args) }] },
  anthropic: { role: 'assistant', content: [{ type: 'text', text: 'I add.' }, { type: 'tool_use', id: 'c0', name: 'add', input: args }, { type: 'tool_use', id: 'c1', name: 'fail', input: {} }] }
} as const
const sum = JSON.stringify({ ok: true, result: { sum: 3 } })

t.test('each form of a message gets its answers in its own form', async t => {
  t.strictSame(await toolyard.invoke(messages.chat), [{ role: 'tool', tool_call_id: 'c0', content: sum }])
  t.strictSame(await toolyard.invoke(messages.responses), [{ type: 'function_call_output', call_id: 'c0', output: sum }])
  const [answer, ...more] = await toolyard.invoke(messages.anthropic)
  t.strictSame(more, [])
  t.match(answer, { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c0', content: sum }, { tool_use_id: 'c1', is_error: true, content: /the well is dry/ }] })
})

t.test('what is no message at all is refused by the service, as everything that is not known', async t => {
  for (const message of ['hello', 5, true]) await t.rejects(toolyard.invoke(message as never), { name: 'ToolyardError', code: 'VALIDATION_ERROR', message: /'message' must be an object/ })
})

t.test('a list of calls is accepted as well as the message that contains it', async t => {
  t.strictSame(await toolyard.invoke(messages.chat.tool_calls), [{ role: 'tool', tool_call_id: 'c0', content: sum }])
  t.strictSame(await toolyard.invoke([...messages.responses.output]), [{ type: 'function_call_output', call_id: 'c0', output: sum }])
})

for (const { who, message, answers } of providerMessages) {
  t.test(`the calls of ${who} get their answers in the shape that it expects`, async t => {
    t.strictSame(await toolyard.invoke(message), answers)
  })
}

t.test("LangChain's calls that could not be read are answered where they are alone: its library sends no others back", async t => {
  const call = { type: 'tool_call', name: 'echo', args: {}, id: 'c0' }
  const invalid = { type: 'invalid_tool_call', name: 'echo', args: '', id: 'c1', error: 'Malformed args.' }
  t.match(await toolyard.invoke({ content: '', tool_calls: [call], invalid_tool_calls: [invalid] } as object), [{ tool_call_id: 'c0' }])
  t.match(await toolyard.invoke({ content: '', tool_calls: [], invalid_tool_calls: [invalid] } as object), [{ tool_call_id: 'c1', status: 'success' }])
})

t.test('lists of calls that come without their message are told apart', async t => {
  const list = async (calls: object[]): Promise<unknown> => await toolyard.invoke(calls as object)
  t.match(await list([{ name: 'echo', args: {}, id: 'c0', type: 'tool_call' }]), [{ role: 'tool', tool_call_id: 'c0', status: 'success' }])
  t.match(await list([{ type: 'tool-call', toolCallId: 'c0', toolName: 'echo', input: {} }]), [{ content: [{ type: 'tool-result', toolCallId: 'c0' }] }])
  t.match(await list([{ name: 'echo', args: {} }]), [{ parts: [{ functionResponse: { name: 'echo' } }] }])
  t.match(await list([{ functionCall: { name: 'echo', args: {} } }]), [{ parts: [{ functionResponse: { name: 'echo' } }] }])
  t.match(await list([{ toolUse: { toolUseId: 'c0', name: 'echo', input: {} } }]), [{ content: [{ toolResult: { toolUseId: 'c0' } }] }])
})

t.test('libraries of providers write tools and answers as JSON, whatever numbers are in them', async t => {
  const tools = await Promise.all((['chat', 'responses', 'anthropic', 'gemini', 'bedrock'] as const).map(async format => JSON.stringify(await toolyard.tools(format))))
  for (const written of tools) t.match(written, '"maximum":9223372036854776000')
  const numbers = '{"id":725653563933458432,"list":[18446744073709551615]}'
  const parts = [{ functionCall: { name: 'echo', args: exactJson.parse(numbers) } }]
  t.match(JSON.stringify(await toolyard.invoke({ parts })), '"result":{"id":"725653563933458432","list":["18446744073709551615"]}')
})

t.test('what reads and writes the JSON of a client may be of a class', async t => {
  class Counting {
    read = 0
    parse (text: string): unknown {
      this.read += 1
      return JSON.parse(text)
    }

    stringify (value: unknown): string { return JSON.stringify(value) }
  }
  const json = new Counting()
  const own = new Toolyard({ url: service.api.address, apiKey: testKeys.admin, json })
  t.strictSame(await own.invoke(messages.chat), [{ role: 'tool', tool_call_id: 'c0', content: sum }])
  t.ok(json.read > 0)
})

t.test("a message that isn't known is refused, and the error names it", async t => {
  t.strictSame(await toolyard.invoke(undefined), [], 'a list of calls that a library left out')
  await t.rejects(toolyard.invoke({ entries: [1] }), { code: 'VALIDATION_ERROR', message: /'entries' is not a known field/ })
  await t.rejects(toolyard.invoke({ content: [{ type: 'frobnicate' }] }), { code: 'VALIDATION_ERROR', message: /content\[0\] is of the type 'frobnicate'/ })
  await t.rejects(toolyard.invoke({ choices: [{ delta: { tool_calls: [] } }] }), { code: 'VALIDATION_ERROR', message: /piece of a stream/ })
  const choice = { message: messages.chat }
  await t.rejects(toolyard.invoke({ choices: [choice, choice] }), { code: 'VALIDATION_ERROR', message: /choices\[1\] has calls beside/ })
})

t.test('the last call of a message that ended at its limit does not run', async t => {
  t.match(await toolyard.invoke({ choices: [{ finish_reason: 'length', message: messages.chat }] }), [{ content: /ended before the call was complete/ }])
  t.match(await toolyard.invoke({ stop_reason: 'max_tokens', content: [{ type: 'tool_use', id: 'c0', name: 'echo', input: {} }] }), [{ content: [{ is_error: true }] }])
})

t.test('a message without calls gives an empty list, without a request', async t => {
  const away = new Toolyard({ url: 'http://127.0.0.1:9', retryMs: 0 })
  t.strictSame(await away.invoke({ role: 'assistant', tool_calls: null }), [])
  t.strictSame(await away.invoke({ output: [{ type: 'message' }] }), [])
  t.strictSame(await away.invoke({ content: [{ type: 'text' }] }), [])
  t.strictSame(await away.invoke([]), [])
  t.strictSame(await away.invoke({ choices: [{ message: { role: 'assistant', content: 'No.' } }] }), [])
  t.strictSame(await away.invoke({ candidates: [{ content: { role: 'model', parts: [{ text: 'No.' }] } }] }), [])
  t.strictSame(await away.invoke({ output: { message: { role: 'assistant', content: [{ text: 'No.' }] } } }), [])
})

t.test('a message of more calls than fit into a batch gets one answer for each, in order', async t => {
  const answers = await toolyard.invoke({ role: 'assistant', tool_calls: manyCalls })
  t.strictSame(answers.map(({ tool_call_id: id }) => id), ids(45))
  const uses = ids(21).map(id => ({ type: 'tool_use', id, name: 'no_such_tool', input: {} }))
  const joined = await toolyard.invoke({ content: uses })
  t.equal(joined.length, 1)
  t.strictSame(joined[0]?.content.map(({ tool_use_id: id }) => id), ids(21))
})

t.test('a call that has not ended within timeoutMs is answered too, with its job', async t => {
  const file = join(service.dir, 'workspace', 'never')
  const call = { id: 'c0', type: 'function' as const, function: { name: 'wait_for', arguments: JSON.stringify({ file }) } }
  const [answer] = await toolyard.invoke([call], { timeoutMs: 0, waitMs: 100 })
  const { job_id: id, message } = JSON.parse(answer?.content ?? '') as { job_id: string, message: string }
  t.match(message, `'wait_for' goes on as job ${id}`)
  t.equal((await toolyard.cancel(id)).status, 'cancelled')
})

t.test('a call that waits for an approval is answered at once, with a message for the model', async t => {
  const begun = performance.now()
  const held = { id: 'c0', type: 'function' as const, function: { name: 'hold', arguments: '{}' } }
  const answers = await toolyard.invoke([held, { ...messages.chat.tool_calls[0], id: 'c1' }])
  t.match(answers, [{ tool_call_id: 'c0', content: /"pending":true.*has not run/ }, { tool_call_id: 'c1', content: sum }])
  if (withoutPython === false) {
    const sent = JSON.stringify([[held]])
    t.match(await runPython('invoke.py', [sent], { TOOLYARD_URL: service.api.address, TOOLYARD_API_KEY: testKeys.admin }), /has not run/)
  }
  t.ok(performance.now() - begun < 60_000, 'nobody waits for ten minutes')
})

t.test('tools come in the requested form', async t => {
  t.match((await toolyard.tools()).find(tool => tool.function.name === 'add'), { type: 'function', function: { parameters: { type: 'object' } } })
  t.match((await toolyard.tools('responses')).find(tool => tool.name === 'add'), { type: 'function', parameters: { type: 'object' }, strict: false })
  t.match((await toolyard.tools('responses', { strict: true })).find(tool => tool.name === 'add'), { strict: true })
  t.match((await toolyard.tools('anthropic')).find(tool => tool.name === 'add'), { description: 'Adds two numbers', input_schema: { type: 'object' } })
})

t.test('the Python client gives the same answers', { skip: withoutPython }, async t => {
  const sent = [messages.chat, messages.responses, messages.anthropic, { tool_calls: manyCalls }, messages.chat.tool_calls, { role: 'assistant', content: 'No.' }, [], ...providerMessages.map(({ message }) => message)]
  const got = JSON.parse(await runPython('invoke.py', [JSON.stringify(sent)], { TOOLYARD_URL: service.api.address, TOOLYARD_API_KEY: testKeys.admin })) as unknown[]
  for (const [at, message] of sent.entries()) t.strictSame(got[at], await toolyard.invoke(message as never))
})
