import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CallResult, JobView, ToolList } from '@toolyard/contract'
import t from 'tap'
import { runToolyard } from '../cli/toolyard.ts'
import { reach } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { serveMcp } from '../support/mcp-server.ts'
import { createService, testKeys } from '../support/service.ts'

const prompt = { messages: [{ role: 'user', content: { type: 'text', text: 'Capital of France?' } }], maxTokens: 10 }
const written = { role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'm' }
const directories = { roots: [{ uri: 'file:///home/ada' }] }
/** A server of 2025: it asks during its calls, one thing after the other, and tells what it was answered. */
const server = `
let capabilities, calls = 0, id = 0
const waiting = new Map()
const send = message => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
const request = (method, params) => new Promise(resolve => {
  waiting.set(++id, resolve)
  send({ id, method, params })
})
const ask = async (message, more) => capabilities.elicitation === undefined ? { action: 'nobody' } : request('elicitation/create', { message, ...more })
const form = field => ({ requestedSchema: { type: 'object', properties: { [field]: { type: 'string' } }, required: [field] } })
const tools = {
  book: async ({ who }) => [await ask('Which seat for ' + who + '?', form('seat')), await ask('Which meal?', form('meal'))],
  number: () => ask('Which number?', { requestedSchema: { type: 'object', properties: { x: { type: 'number' } } } }),
  page: () => ask('Log in', { mode: 'url', elicitationId: 'e', url: 'https://example.com/login' }),
  odd: () => ask('', form('x')),
  model: async () => [capabilities.roots ?? 'none', await request('roots/list'), await request('sampling/createMessage', ${JSON.stringify(prompt)})],
  long: () => request('sampling/createMessage', { messages: [], maxTokens: 1, systemPrompt: 'x'.repeat(33e3) }),
  endless: () => request('sampling/createMessage', { messages: [], maxTokens: 1, systemPrompt: 'x'.repeat(2e5) })
}
const results = {
  initialize: params => { capabilities = params.capabilities; return { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'asker', version: '1' } } },
  'tools/list': () => ({ tools: Object.keys(tools).map(name => ({ name, inputSchema: { type: 'object', properties: { who: { type: 'string' } } } })) }),
  'tools/call': async ({ name, arguments: args }) => ({ content: [{ type: 'text', text: JSON.stringify({ calls: ++calls, said: await tools[name](args) }) }] }),
  ping: () => ({})
}
require('node:readline').createInterface({ input: process.stdin }).on('line', async line => {
  const { id: of, method, params, result } = JSON.parse(line)
  if (method === undefined) return waiting.get(of)?.(result?.content?.x === undefined ? result ?? { action: 'refused' } : line)
  if (of === undefined) return
  const answer = results[method]
  send(answer === undefined ? { id: of, error: { code: -32601, message: 'Method not found' } } : { id: of, result: await answer(params) })
})
`
/** One of 2026, which answers with what it asks. */
const form = (message: string): object => ({
  method: 'elicitation/create', params: { message, requestedSchema: { type: 'object', properties: { x: { type: ['string', 'number'] } }, required: ['x'] } }
})
const modern: Record<string, (params: Record<string, unknown>) => object> = {
  'server/discover': () => ({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, serverInfo: { name: 'modern', version: '1' }, ttlMs: 0, cacheScope: 'private' }),
  'tools/list': () => ({ tools: ['many', 'model', 'again', 'odd'].map(name => ({ name, inputSchema: { type: 'object' } })), ttlMs: 0, cacheScope: 'private' }),
  'tools/call': ({ name, inputResponses, requestState }) => {
    const asks = (inputRequests?: object): object => ({ resultType: 'input_required', requestState: `state of ${String(name)}`, inputRequests })
    if (requestState !== undefined) return { content: [{ type: 'text', text: JSON.stringify({ requestState, inputResponses }) }] }
    if (name === 'again') return asks()
    if (name === 'odd') return asks({ m: { method: 'no/such' } })
    return asks(name === 'many' ? { a: form('First?'), b: form('Second?') } : { m: { method: 'sampling/createMessage', params: prompt }, r: { method: 'roots/list' } })
  }
}
let lastBody = ''
const { url: modernUrl } = await serveMcp(t, ({ method, params, body }) => {
  lastBody = body
  const result = modern[method]?.(params)
  return result && { resultType: 'complete', ...result }
})

const schema = JSON.stringify({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] })
const twice = `#!/bin/sh
cat > /dev/null
given=$( [ -z "$TOOLYARD_ANSWER" ] && echo 0 || wc -l < "$TOOLYARD_ANSWER" )
[ "$given" -lt 2 ] && echo '{"$ask":{"text":"Which city, '$given'?","schema":${schema}}}' && exit
paste -sd' ' "$TOOLYARD_ANSWER"
`
const own = { name: 'trip', schema: { type: 'object' }, command: ['./tools/bin/twice'], asks: true }
const mcp = { command: 'node', args: ['./tools/asker.js'] }
const service = await createService(t, {
  files: { 'tools/bin/twice': twice, 'tools/asker.js': server },
  tools: [own],
  env: { FAR_KEY: testKeys.admin, HTTP_PRIVATE_HOSTS: '127.0.0.1' }
})
const { client, dir } = service
const far = { name: 'far', asks: true, tools: ['trip'], mcp: { url: `${service.api.address}/mcp`, headers: { 'x-api-key': { setting: 'FAR_KEY' } } } }
const tools = [own, { name: 'seats', asks: true, mcp }, { name: 'quiet', mcp }, far, { name: 'modern', asks: true, mcp: { url: modernUrl } }]
await writeFile(join(dir, 'tools.json'), JSON.stringify({ tools }))
const accepting = { FAR_KEY: testKeys.admin, HTTP_PRIVATE_HOSTS: '127.0.0.1', SANDBOX: 'off', WORKSPACE_DIR: join(dir, 'workspace') }
const { status, stdout, stderr } = await runToolyard(['accept', 'tools.json', '--yes'], { cwd: dir, env: accepting })
if (status !== 0) throw new Error(stdout + stderr)
await waitFor('all are published', async () => {
  const names = (await client.request<ToolList>('/v1/agent-tools')).body.tools.map(tool => tool.function.name)
  return ['seats_book', 'quiet_book', 'far_trip', 'modern_many'].every(name => names.includes(name))
})

async function call (name: string, args: object = {}): Promise<CallResult> {
  return await waitFor('the worker knows the tool', async () => {
    const result = await client.call(name, args)
    return !['UNKNOWN_TOOL', 'TOOL_UNAVAILABLE'].includes(result.error?.code ?? '') && result
  })
}

async function asks (id: string, number: number): Promise<string> {
  return await waitFor(`question ${number}`, async () => {
    const { body: { job: { question, error } } } = await client.request<{ job: JobView }>(`/v1/jobs/${id}`)
    if (error !== null) throw new Error(error.message)
    return question?.number === number && question.text
  })
}

async function answer (id: string, number: number, given: object): Promise<void> {
  const { status } = await client.request(`/v1/jobs/${id}/answer`, { body: { answer: given, number } })
  t.equal(status, 200)
}

t.test('what a server of 2025 asks during a call is the question of its job: the call is made again, and gets the answers that were given', async t => {
  const asked = await call('seats_book', { who: 'Ada' })
  t.match(asked, { pending: true, error: { code: 'INPUT_REQUIRED', details: { question: { text: 'MCP server "seats" asks: Which seat for Ada?', schema: { required: ['seat'] } } } } })
  const id = asked.job_id ?? ''
  await answer(id, 1, { seat: 'aisle' })
  t.equal(await asks(id, 2), 'MCP server "seats" asks: Which meal?')
  await answer(id, 2, { meal: 'soup' })
  const { result, attempts } = await reach(client, id, 'succeeded')
  t.equal(attempts, 3)
  t.match(JSON.parse(String(result)), { said: [{ action: 'accept', content: { seat: 'aisle' } }, { action: 'accept', content: { meal: 'soup' } }] })
})

t.test('calls that ask at the same time get their own questions and answers', async t => {
  const names = ['Bo', 'Cy', 'Di']
  const ids = (await Promise.all(names.map(who => call('seats_book', { who })))).map(({ job_id: id = '' }) => id)
  for (const [at, id] of ids.entries()) t.equal(await asks(id, 1), `MCP server "seats" asks: Which seat for ${names[at] ?? ''}?`)
  await Promise.all(ids.map((id, at) => answer(id, 1, { seat: `of ${names[at] ?? ''}` })))
  await Promise.all(ids.map(async id => { await asks(id, 2) }))
  await Promise.all(ids.map(id => answer(id, 2, { meal: 'none' })))
  for (const [at, id] of ids.entries()) t.match(String((await reach(client, id, 'succeeded')).result), `of ${names[at] ?? ''}`)
})

t.test('a server whose entry says nothing of asking hears that nobody can be asked', async t => {
  t.match(JSON.parse(String((await call('quiet_book', { who: 'Ed' })).output)), { said: [{ action: 'nobody' }, { action: 'nobody' }] })
})

t.test('a page that the user should open is refused, and the call goes on; a question that can not be asked fails it', async t => {
  t.match(JSON.parse(String((await call('seats_page')).output)), { said: { action: 'refused' } })
  t.match(await call('seats_odd'), { ok: false, error: { code: 'QUESTION_INVALID', message: /'question\.text' must be the question/ } })
})

t.test('what a server of 2026 asks is asked, and its call goes on where it was', async t => {
  const asked = await call('far_trip')
  t.match(asked, { pending: true, error: { code: 'INPUT_REQUIRED', details: { question: { text: 'MCP server "far" asks: Which city, 0?' } } } })
  const id = asked.job_id ?? ''
  await answer(id, 1, { city: 'Rome' })
  t.equal(await asks(id, 2), 'MCP server "far" asks: Which city, 1?')
  await answer(id, 2, { city: 'Oslo' })
  t.equal((await reach(client, id, 'succeeded')).result, '{"city":"Rome"} {"city":"Oslo"}')
  const { body: { jobs } } = await client.request<{ jobs: JobView[] }>('/v1/jobs?type=agentcli.trip')
  t.match(jobs, [{ status: 'succeeded', attempts: 3 }], 'the server has one job of it')
  t.equal(jobs.length, 1)
})

t.test('what a server of 2026 asks at once is asked at once, and brought along with its state', async t => {
  const id = (await call('modern_many')).job_id ?? ''
  t.equal(await asks(id, 1), 'MCP server "modern" asks: First?')
  t.match((await client.request<{ job: JobView }>(`/v1/jobs/${id}`)).body.job.question, { more: [{ number: 2, text: 'MCP server "modern" asks: Second?' }] })
  await answer(id, 2, { x: 'two' })
  await answer(id, 1, { x: 'one' })
  t.match(JSON.parse(String((await reach(client, id, 'succeeded')).result)), {
    requestState: 'state of many', inputResponses: { a: { action: 'accept', content: { x: 'one' } }, b: { action: 'accept', content: { x: 'two' } } }
  })
})

t.test('a server gets the numbers of answers as they were written', async t => {
  const digits = '1152921504606846977'
  const give = async (id: string, number: number): Promise<void> => {
    await asks(id, number)
    const { status } = await client.request(`/v1/jobs/${id}/answer`, { body: `{"answer":{"x":${digits}},"number":${number}}` })
    t.equal(status, 200)
  }
  const old = (await call('seats_number')).job_id ?? ''
  await give(old, 1)
  t.match(String((await reach(client, old, 'succeeded')).result), `\\"content\\":{\\"x\\":${digits}}`)
  const many = (await call('modern_many')).job_id ?? ''
  await give(many, 1)
  await give(many, 2)
  await reach(client, many, 'succeeded')
  t.match(lastBody, `"inputResponses":{"a":{"action":"accept","content":{"x":${digits}}},"b":{"action":"accept","content":{"x":${digits}}}}`)
})

t.test('a server of 2026 that wants to be called again is, and one that asks for what is unknown gets no answer', async t => {
  t.match(JSON.parse(String((await call('modern_again')).output)), { requestState: 'state of again' })
  t.match(await call('modern_odd'), { ok: false, error: { code: 'QUESTION_INVALID', message: /asks for "no\/such", which nobody answers/ } })
})

t.test('servers of both revisions ask a model, and those of 2026 for directories, which a session of 2025 would keep for other callers', async t => {
  const old = (await call('seats_model')).job_id ?? ''
  t.match(await asks(old, 1), /^MCP server "seats" asks: What does a model say/)
  t.match((await client.request<{ job: JobView }>(`/v1/jobs/${old}`)).body.job.question, { kind: 'sampling', params: prompt })
  await answer(old, 1, written)
  t.match(JSON.parse(String((await reach(client, old, 'succeeded')).result)), { said: ['none', { action: 'refused' }, written] })
  const { job_id: id = '', error } = await call('modern_model')
  t.match(error, { details: { question: { kind: 'sampling', params: prompt, more: [{ kind: 'roots', number: 2 }] } } })
  await answer(id, 2, directories)
  await answer(id, 1, written)
  t.match(JSON.parse(String((await reach(client, id, 'succeeded')).result)), { inputResponses: { m: written, r: directories } })
})

t.test('messages for a model that are too long are asked of nobody', async t => {
  t.match(await call('seats_long'), { ok: false, error: { code: 'QUESTION_INVALID', message: /'question\.params' have more than 32000 characters/ } })
  t.match(JSON.parse(String((await call('seats_endless')).output)), { said: { action: 'refused' } })
})
