import fc from 'fast-check'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { readJson, writeJson } from '@toolyard/contract/terms'
import type { ApprovalDetail, JobView } from '@toolyard/contract'
import { entries, programs } from '../e2e/tools.ts'
import { waitFor } from '../support/condition.ts'
import { injectService } from '../support/injected.ts'
import { anyCharacter } from '../support/any-character.ts'

const object = { type: 'object' }
const form = { text: 'Which?', schema: { ...object, properties: { id: { type: 'integer' }, rate: { type: 'number' } } } }
const { client, dir } = await injectService(t, {
  files: {
    ...programs,
    'tools/bin/stdin': '#!/bin/sh\nprintf "{\\"stdin\\":"; node -e \'process.stdout.write(JSON.stringify(require("fs").readFileSync(0, "utf8")))\'; printf "}"\n',
    'tools/bin/cat': '#!/bin/sh\nexec cat\n',
    'tools/bin/lost': '#!/bin/sh\necho \'{"error":"no","id":725653563933458432}\' >&2\nexit 3\n',
    'tools/bin/told': '#!/bin/sh\necho "::progress 1/2 half" >&2\nsleep 1\n',
    'tools/bin/digits': '#!/bin/sh\necho \'{"id":725653563933458432,"2":1.0,"1":0}\'\n',
    'tools/bin/power': '#!/bin/sh\necho 1152921504606846977\n',
    'tools/bin/asks': `#!/bin/sh\ncat > /dev/null\n[ -n "$TOOLYARD_ANSWER" ] && exec cat "$TOOLYARD_ANSWER"\necho '${JSON.stringify({ $ask: form })}'\n`
  },
  tools: [
    ...entries,
    { name: 'cat', schema: object, command: ['./tools/bin/cat'] },
    { name: 'held', schema: object, command: ['./tools/bin/cat'], approval: { self: true } },
    { name: 'asks', schema: object, command: ['./tools/bin/asks'], asks: true },
    { name: 'asks_prompt', schema: object, command: ['./tools/bin/asks'], asks: true, publishAs: 'prompt' },
    { name: 'stdin', schema: object, command: ['./tools/bin/stdin'] },
    { name: 'lost', schema: object, command: ['./tools/bin/lost'] },
    { name: 'told', schema: object, command: ['./tools/bin/told'] },
    { name: 'asked', schema: object, command: ['./tools/bin/power'], publishAs: 'prompt' },
    { name: 'kept', schema: { type: 'object', properties: { id: { type: 'string' } } }, command: ['./tools/bin/digits'], publishAs: { uri: 'digits://{id}' } },
    { name: 'power', schema: object, command: ['./tools/bin/power'] },
    { name: 'filled', schema: { type: 'object', properties: { id: { type: 'integer' }, limit: { type: 'integer', default: 10 } } }, command: ['./tools/bin/stdin'] },
    { name: 'chosen', schema: { type: 'object', properties: { id: { enum: [1, 9_007_199_254_740_992] }, list: { uniqueItems: true, items: { multipleOf: 2 } } } }, command: ['./tools/bin/cat'] },
    { name: 'bounded', schema: { type: 'object', properties: { id: { type: 'integer', maximum: 9_007_199_254_740_992 } } }, command: ['./tools/bin/cat'] }
  ]
})
const id = '725653563933458432'
const text = `{"z":{"10":1.0,"2":[-0,1e2,${id}],"a":0.1234567890123456789},"id":${id},"1":[]}`

async function post (path: string, body: string): Promise<string> {
  return (await client.request(path, { method: 'POST', body, headers: { 'content-type': 'application/json' } })).text
}

t.test('A37 a tool gets each value as the caller wrote it, in its order', async t => {
  const answer = JSON.parse(await post('/v1/tools/stdin', text)) as { stdin: string }
  t.equal(answer.stdin, text)
})

t.test('A37 defaults come behind what the caller wrote', async t => {
  const answer = JSON.parse(await post('/v1/tools/filled', `{"id":${id}}`)) as { stdin: string }
  t.equal(answer.stdin, `{"id":${id},"limit":10}`)
})

t.test("the numbers of a tool's output reach the caller, by every way", async t => {
  t.equal(await post('/v1/tools/cat', text), text)
  t.equal(await post('/v1/tools/power', '{}'), '1152921504606846977')
  const batch = await post('/v1/agent-tools/invoke-batch', `{"calls":[{"call_id":"1","name":"cat","arguments":${text}},{"call_id":"2","name":"power"}]}`)
  t.ok(batch.includes(`"output":${text}`))
  t.ok(batch.includes('"output":1152921504606846977'))
  t.ok(batch.includes(JSON.stringify(`{"ok":true,"result":${text}}`)))
  const message = await post('/v1/agent-tools/invoke-batch', `{"tool_calls":[{"id":"1","type":"function","function":{"name":"cat","arguments":${JSON.stringify(text)}}}]}`)
  t.ok(message.includes(`"output":${text}`))
  const content = await post('/v1/agent-tools/invoke-batch', `{"content":[{"type":"tool_use","id":"1","name":"cat","input":${text}}]}`)
  t.ok(content.includes(`"output":${text}`))
  const events = await client.request('/v1/agent-tools/invoke-batch', {
    method: 'POST', body: `{"calls":[{"call_id":"1","name":"cat","arguments":${text}}]}`, headers: { 'content-type': 'application/json', accept: 'text/event-stream' }
  })
  t.equal(events.text.split(`"output":${text}`).length, 3, 'the event and the end')
})

t.test('a job shows its input and its result as they were written', async t => {
  const made = JSON.parse(await post('/v1/jobs', `{"type":"agentcli.cat","input":${text}}`)) as { job: { id: string } }
  let read = ''
  for (; !read.includes('"succeeded"'); await new Promise(resolve => setTimeout(resolve, 20))) read = (await client.request(`/v1/jobs/${made.job.id}`)).text
  t.ok(read.includes(`"input":${text}`))
  t.ok(read.includes(`"result":${text}`))
})

/** A placeholder of a workflow. */
function dollar (name: string): string {
  return `$\{${name}}`
}

async function rpc (message: string): Promise<string> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' }
  return (await client.request('/mcp', { method: 'POST', body: message, headers })).text
}

t.test('a call of an MCP client keeps its numbers, and a message its id', async t => {
  const answer = await rpc(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"cat","arguments":${text}}}`)
  t.ok(answer.includes(`"id":${id}`), answer)
  t.ok(answer.includes(JSON.stringify(text)), answer)
  t.match(await rpc(`{"jsonrpc":"2.0","id":${id},"method":"no/such"}`), new RegExp(`"id":${id}`))
})

t.test('an output with numbers that an MCP client would round is only a text; any other one is a structure as it was written', async t => {
  const call = async (args: string): Promise<string> => await rpc(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"cat","arguments":${args}}}`)
  for (const rounded of [id, `-${id}`, '12345678901234567', '0.1234567890123456789', '1234567890123456.789']) {
    const answer = await call(`{"a":[{"b":${rounded}}]}`)
    t.ok(answer.includes(JSON.stringify(`{"a":[{"b":${rounded}}]}`)) && !answer.includes('structuredContent'), answer)
  }
  for (const kept of ['9007199254740991', '1.0', '-0', '1e2', '0.10000000000000001', '2.5e-300', '100000000000000000000', `"${id}"`]) {
    t.ok((await call(`{"a":[{"b":${kept}}],"1":0}`)).includes(`"structuredContent":{"a":[{"b":${kept}}],"1":0}`), kept)
  }
})

t.test('a number that nothing holds is the fault of its call alone, and of any other field of its request', async t => {
  const told = /"INVALID_ARGUMENTS","message":"Arguments do not fit the schema: \/a\/0 is the number 1E400, which a tool can't be sure to hold: send it as a text"/
  const batch = await post('/v1/agent-tools/invoke-batch', '{"calls":[{"call_id":"1","name":"cat","arguments":{"a":[1E400]}},{"call_id":"2","name":"cat","arguments":{"a":1}}]}')
  t.match(batch, told)
  t.ok(batch.includes('"output":{"a":1}'))
  t.match(await post('/v1/tools/cat', '{"a":[1E400]}'), told)
  t.match(await post('/v1/jobs', '{"type":"agentcli.cat","input":{"a":[1E400]}}'), /send it as a text/)
  t.match(await rpc('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"cat","arguments":{"a":[1E400]}}}'), /"id":1/)
  t.match(await post('/v1/agent-tools/invoke-batch', '{"calls":[{"call_id":"1","name":"cat"}],"wait_ms":1e400}'), /'wait_ms' must be an integer/)
  t.match(await post('/v1/jobs', '{"type":"agentcli.cat","input":{},"timeout_sec":1e400}'), /"VALIDATION_ERROR"/)
})

t.test("the id of a message's call that would be rounded is a 400", async t => {
  const answer = await post('/v1/agent-tools/invoke-batch', `{"tool_calls":[{"id":${id},"function":{"name":"cat","arguments":{}}}]}`)
  t.match(answer, /tool_calls\[0\].id must be a text/)
})

t.test('a progress token of an MCP client keeps its digits', async t => {
  const answer = await rpc(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"told","_meta":{"progressToken":${id}}}}`)
  t.ok(answer.includes(`"progressToken":${id}`), answer)
})

t.test('prompts and resources that tools make keep their digits', async t => {
  const prompt = await rpc('{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"asked"}}')
  t.ok(prompt.includes('"text":"1152921504606846977"'), prompt)
  const resource = await rpc('{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"digits://a"}}')
  t.ok(resource.includes(JSON.stringify(`{"id":${id},"2":1.0,"1":0}`)), resource)
})

t.test('what waits for an approval is shown, and told beside the next one, as it was written', async t => {
  const hold = async (): Promise<string> => (JSON.parse(await post('/v1/tools/held', text)) as { job_id: string }).job_id
  const first = await hold()
  const { text: shown, body: { approval } } = await client.request<{ approval: ApprovalDetail }>(`/v1/approvals/${first}`)
  t.ok(shown.includes(`"arguments":${text}`), shown)
  t.ok((await client.request('/v1/approvals')).text.includes(`"arguments_preview":${JSON.stringify(text)}`))
  const decided = await post(`/v1/approvals/${first}`, JSON.stringify({ decision: 'approve', digest: approval.approval.digest }))
  t.ok(decided.includes(`"arguments":${text}`), decided)
  const { text: next } = await client.request(`/v1/approvals/${await hold()}`)
  t.ok(next.includes(`"previous":{"job_id":"${first}","arguments":${text}}`), next)
})

t.test('an answer to a question reaches its tool as it was written, by every way', async t => {
  const given = `{"id":${id},"rate":1.0}`
  const { job_id: job } = JSON.parse(await post('/v1/tools/asks', '{}')) as { job_id: string }
  await post(`/v1/jobs/${job}/answer`, `{"answer":${given}}`)
  t.ok((await post('/v1/tools/job_result', `{"job_id":"${job}","wait_ms":20000}`)).includes(given))

  // Who declares tasks gets one for a call that takes longer than half a second, as any may on a busy machine.
  const ask = async (method: string, params: string, name: string, extensions = '{}'): Promise<string> => (await client.request('/mcp', {
    method: 'POST',
    body: `{"jsonrpc":"2.0","id":1,"method":"${method}","params":{${params},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
      `"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"extensions":${extensions}}}}}`,
    headers: { 'content-type': 'application/json', accept: 'application/json', 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, 'mcp-name': name }
  })).text
  for (const [method, name] of [['tools/call', 'asks'], ['prompts/get', 'asks_prompt']] as const) {
    const { result: { requestState: state = '' } } = JSON.parse(await ask(method, `"name":"${name}"`, name)) as { result: { requestState?: string } }
    const params = `"name":"${name}","requestState":"${state}","inputResponses":{"answer":{"action":"accept","content":{"id":${id},"rate":1.0,"else":null}}}`
    const answer = await ask(method, params, name)
    t.ok(answer.includes(JSON.stringify(given)), answer)
  }
  const { body: { job: { id: task } } } = await client.request<{ job: JobView }>('/v1/jobs', { body: { type: 'agentcli.asks', input: {} } })
  await waitFor('it asks', async () => (await client.request<{ job: JobView }>(`/v1/jobs/${task}`)).body.job.question !== undefined)
  await ask('tasks/update', `"taskId":"${task}","inputResponses":{"answer":{"action":"accept","content":${given}}}`, task, '{"io.modelcontextprotocol/tasks":{}}')
  t.ok((await post('/v1/tools/job_result', `{"job_id":"${task}","wait_ms":20000}`)).includes(given))
})

t.test('details of a failure keep their digits for an MCP client', async t => {
  const answer = await rpc('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"lost"}}')
  t.ok(answer.includes(`"toolyard/error":{"code":"TOOL_FAILED","details":{"id":${id}},"message":"no"}`), answer)
})

t.test('two requests with one Idempotency-Key differ in the last digit', async t => {
  const send = async (number: string): Promise<number> => (await client.request('/v1/tools/cat', {
    method: 'POST', body: `{"id":${number}}`, headers: { 'content-type': 'application/json', 'idempotency-key': 'digits' }
  })).status
  t.equal(await send('9007199254740993'), 200)
  t.equal(await send('9007199254740993'), 200)
  t.equal(await send('9007199254740992'), 409)
})

t.test("a workflow hands a step's output on as it was written", async t => {
  const steps = [
    { name: 'first', tool: 'cat', arguments: { id: dollar('id') } },
    { name: 'second', tool: 'stdin', arguments: { all: dollar('first'), id: dollar('first.id'), text: `no. ${dollar('first.id')}` } }
  ]
  await writeFile(join(dir, 'workspace', 'workflows.yaml'), JSON.stringify({ workflows: { digits: { steps, output: dollar('second.stdin') } } }))
  const answer = await post('/v1/tools/workflow_run', `{"workflow":"digits","params":{"id":${id}}}`)
  t.ok(answer.includes(JSON.stringify(`{"all":{"id":${id}},"id":${id},"text":"no. ${id}"}`)), answer)
})

t.test('a long output is cut in the text that the tool wrote', async t => {
  const long = `{"id":${id},"rest":"${'x'.repeat(13_000)}"}`
  const batch = JSON.parse(await post('/v1/agent-tools/invoke-batch', `{"calls":[{"call_id":"1","name":"cat","arguments":${long}}]}`)) as { results: Array<{ output: { bytes: number, preview: string } }> }
  t.equal(batch.results[0]?.output.bytes, long.length)
  t.equal(batch.results[0]?.output.preview, long.slice(0, 12_000))
})

t.test('a bound is compared with the number that was written', async t => {
  t.match(await post('/v1/tools/bounded', '{"id":9007199254740993}'), /"INVALID_ARGUMENTS"/)
  t.equal(await post('/v1/tools/bounded', '{"id":9007199254740992}'), '{"id":9007199254740992}')
})

t.test('values of an enum, multiples and unique items are compared as they were written', async t => {
  t.match(await post('/v1/tools/chosen', '{"id":9007199254740993}'), /"INVALID_ARGUMENTS".*\/id must be one of 1, 9007199254740992/)
  t.match(await post('/v1/tools/chosen', '{"list":[9007199254740993]}'), /"INVALID_ARGUMENTS"/)
  t.equal(await post('/v1/tools/chosen', '{"list":[9007199254740994,18014398509481988,18014398509481990]}'), '{"list":[9007199254740994,18014398509481988,18014398509481990]}')
})

t.test('a built-in tool says that it holds no such number', async t => {
  const answer = await post('/v1/tools/data_file_read', `{"path":"a","max_bytes":${id}}`)
  t.match(answer, /"INVALID_ARGUMENTS"/)
  t.match(answer, new RegExp(`/max_bytes is the number ${id}, which a tool can't be sure to hold: send it as a text`))
})

const number = fc.oneof(
  fc.bigInt().map(String), fc.double({ noNaN: true, noDefaultInfinity: true }).map(value => JSON.stringify(value)), fc.constantFrom('-0', '0', '1.0', '-1.50', '1e2', '1E+2', '12e-3', '0.1234567890123456789')
)
const key = fc.oneof(fc.string({ maxLength: 5 }), fc.nat(20).map(String), fc.constantFrom('\ud800', 'é', '"'))
const { json } = fc.letrec<{ json: string, object: string }>(tie => ({
  json: fc.oneof({ maxDepth: 4 }, number, fc.string({ unit: anyCharacter }).map(value => JSON.stringify(value)), fc.constantFrom('true', 'false', 'null', '"\\ud800"'), fc.array(tie('json'), { maxLength: 4 }).map(items => `[${items.join(',')}]`), tie('object')),
  object: fc.uniqueArray(fc.tuple(key, tie('json')), { maxLength: 4, selector: ([name]) => name }).map(members => `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`)
}))

t.test('any JSON is written as it was read', async t => {
  fc.assert(fc.property(json, json => { t.equal(writeJson(readJson(`{"a":${json}}`)), `{"a":${json}}`) }), { numRuns: 300 })
})

t.test('any JSON is read as JSON.parse reads it, however it is written', async t => {
  const rest = '"a":1,"__proto__":{"\\u0031":1.0},"b":[ ]}'
  const spaced = fc.tuple(json, fc.constantFrom('', ' ', '\n\t'))
    .map(([text, space]) => `${space}{${space}"a"${space}:${space}${text}${space},${rest}`)
  fc.assert(fc.property(spaced, text => {
    t.equal(JSON.stringify(readJson(text)), JSON.stringify(JSON.parse(text)))
  }), { numRuns: 300 })
})

t.test('A37 any arguments go through a tool as they were written, but for halves of surrogate pairs', async t => {
  await fc.assert(fc.asyncProperty(json, async json => { t.equal(await post('/v1/tools/cat', `{"a":${json}}`), `{"a":${json.replaceAll('\\ud800', '\ufffd')}}`) }), { numRuns: 10 })
})
