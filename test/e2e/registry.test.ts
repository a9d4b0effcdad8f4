import type { ToolList } from '@toolyard/contract'
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { createService, testKeys } from '../support/service.ts'
import { entries, programs } from './tools.ts'

const service = await createService(t, { files: programs, tools: entries, workers: 0 })
const { client } = service
const list = async (key: string): Promise<ToolList> => (await client.request<ToolList>('/v1/agent-tools', { key })).body

/** Whether a request has a key at all. */
const keyOf = (headers: Record<string, string>): boolean => headers['x-api-key'] !== undefined || headers['authorization']?.startsWith('Bearer ') === true

t.test('R1, RC1 every endpoint needs a key; a 401 names both headers that take one', async t => {
  for (const path of ['/v1/agent-tools', '/v1/jobs/0197c9a5-0000-7000-8000-000000000000']) {
    for (const headers of [{}, { 'x-api-key': 'wrong' }, { authorization: 'Bearer wrong' }, { authorization: `Basic ${testKeys.admin}` }, { authorization: testKeys.admin }, { 'x-api-key': 'wrong', authorization: `Bearer ${testKeys.admin}` }] as Array<Record<string, string>>) {
      const answer = await client.request(path, { key: null, headers })
      t.equal(answer.status, 401)
      t.equal(answer.headers.get('www-authenticate'), 'Bearer')
      t.same(answer.body, { ok: false, error: { code: 'UNAUTHORIZED', message: keyOf(headers) ? 'Unauthorized: this API key isn\'t known here; send an API key that is, in the header x-api-key, or as Authorization: Bearer KEY' : 'Unauthorized: send an API key in the header x-api-key, or as Authorization: Bearer KEY' }, request_id: answer.headers.get('x-request-id') })
    }
    t.equal((await client.request(`${path}?api_key=${testKeys.admin}`, { key: null })).status, 401, 'a key in the URL counts for nothing')
  }
})

t.test('R1 a key may come as Authorization: Bearer; beside x-api-key that header is ignored', async t => {
  const who = async (headers: Record<string, string>): Promise<unknown> => (await client.request('/v1/auth/whoami', { key: null, headers })).body
  t.match(await who({ authorization: `Bearer ${testKeys.read}` }), { auth: { role: 'read' } })
  t.match(await who({ authorization: `bearer  ${testKeys.admin} ` }), { auth: { role: 'admin' } })
  t.match(await who({ 'x-api-key': testKeys.read, authorization: `Bearer ${testKeys.admin}` }), { auth: { role: 'read' } })
  t.match(await who({ 'x-api-key': testKeys.admin, authorization: 'Bearer of-a-proxy' }), { auth: { role: 'admin' } })
})

t.test('R2, R31 a read key may list, and gets the documented 403 when it invokes', async t => {
  t.equal((await client.request('/v1/agent-tools', { key: testKeys.read })).status, 200)
  const answer = await client.request('/v1/agent-tools/invoke-batch', { key: testKeys.read, body: { calls: [] } })
  t.equal(answer.status, 403)
  t.same(answer.body, { ok: false, error: { code: 'FORBIDDEN', message: 'This operation requires an admin API key.' }, request_id: answer.headers.get('x-request-id') })
})

t.test('R3 an admin key may list and invoke', async t => {
  t.equal((await client.request('/v1/agent-tools')).status, 200)
  const body = { calls: [{ call_id: 'a', name: 'no_such_tool' }] }
  t.equal((await client.request('/v1/agent-tools/invoke-batch', { body })).status, 200)
})

t.test('the tools are listed in the shape of each provider, with their own entity tags', async t => {
  const parameters = { type: 'object', properties: { word: { type: 'string', minLength: 2 }, times: { type: 'integer', default: 1 } }, required: ['word'], additionalProperties: false }
  const listed = async (query: string, name: string): Promise<unknown> => {
    const { tools } = (await client.request<{ tools: Array<{ name?: string, function?: { name: string } }> }>(`/v1/agent-tools${query}`)).body
    return tools.find(tool => (tool.function ?? tool).name === name)
  }
  const echo = { name: 'echo_strict', description: '' }
  t.same(await listed('?format=chat', 'echo_strict'), { type: 'function', function: { ...echo, parameters } })
  t.same(await listed('?format=responses', 'echo_strict'), { type: 'function', ...echo, parameters, strict: false })
  t.same(await listed('?format=anthropic', 'echo_strict'), { ...echo, input_schema: parameters })
  t.match(await listed('?format=responses&strict=true', 'data_file_read'), { name: 'data_file_read', strict: true, parameters: { required: ['path', 'max_bytes'] } })
  t.match(await listed('?format=anthropic&strict=true', 'echo_strict'), { strict: true, input_schema: { additionalProperties: false } })
  const tags = await Promise.all(['', '?format=chat', '?format=responses', '?format=anthropic', '?strict=true'].map(async query => (await client.request(`/v1/agent-tools${query}`)).headers.get('etag')))
  t.equal(tags[0], tags[1])
  t.equal(new Set(tags).size, 4)
  t.equal((await client.request('/v1/agent-tools?format=cohere')).status, 400)
  const gemini = (await client.request<{ tools: Array<{ functionDeclarations: Array<{ name: string }> }>, count: number }>('/v1/agent-tools?format=gemini')).body
  t.equal(gemini.tools.length, 1)
  t.equal(gemini.tools[0]?.functionDeclarations.length, gemini.count)
  t.same(gemini.tools[0]?.functionDeclarations.find(({ name }) => name === 'echo_strict'), { ...echo, parametersJsonSchema: parameters })
  const bedrock = (await client.request<{ tools: Array<{ toolSpec: { name: string } }> }>('/v1/agent-tools?format=bedrock')).body
  const described = { ...echo, description: 'echo_strict' }
  t.same(bedrock.tools.find(({ toolSpec }) => toolSpec.name === 'echo_strict'), { toolSpec: { ...described, inputSchema: { json: parameters } } }, 'it takes no empty description')
})

t.test('R4, R9, R10, R11, R12 both roles see the same list: enabled tools of builtin handlers only', async t => {
  const asAdmin = await list(testKeys.admin)
  t.same(await list(testKeys.read), asAdmin)
  const names = asAdmin.tools.map(tool => tool.function.name)
  t.ok(names.includes('echo'))
  t.ok(names.includes('data_file_read'))
  t.notOk(names.includes('off'), 'a disabled tool is not listed')
  t.notOk(names.includes('tool_exec'), 'a tool whose policy is off is not listed')
  t.notOk(names.some(name => name.includes('chat')), 'nothing provider-backed is listed')
})

t.test('R6, R50 each tool is a function with name, description and parameters, also when the manifest has neither', async t => {
  const { tools } = await list(testKeys.admin)
  for (const tool of tools) {
    t.equal(tool.type, 'function')
    t.same(Object.keys(tool.function), ['name', 'description', 'parameters'])
  }
  const bare = tools.find(tool => tool.function.name === 'value')
  t.equal(bare?.function.description, '')
})

t.test('the list carries an ETag, and a request that names it gets a 304 without a body', async t => {
  const first = await client.request('/v1/agent-tools')
  const etag = first.headers.get('etag') ?? ''
  t.match(etag, /^"[\w-]+"$/)
  const again = await client.request('/v1/agent-tools', { headers: { 'if-none-match': etag } })
  t.equal(again.status, 304)
  t.equal(again.text, '')
  t.equal((await client.request('/v1/agent-tools', { headers: { 'if-none-match': '"other"' } })).status, 200)
})

t.test('R32 X22 a tool that the policy switched off answers as documented, and no job is made', async t => {
  const { results, tool_messages: messages } = await client.batch([{ call_id: 'call-y', name: 'tool_exec', arguments: { command: 'ls' } }])
  t.same(results, [{ call_id: 'call-y', name: 'tool_exec', ok: false, error: { code: 'JOB_TYPE_DISABLED', message: "Job type 'tool.exec' is disabled" } }])
  t.same(messages, [{ role: 'tool', tool_call_id: 'call-y', name: 'tool_exec', content: '{"ok":false,"error":{"code":"JOB_TYPE_DISABLED","message":"Job type \'tool.exec\' is disabled"}}' }])
})

t.test('no key appears in the log of the API', async t => {
  const log = await service.api.output()
  for (const key of Object.values(testKeys)) t.notOk(log.includes(key))
  t.ok((await readFile(`${service.dir}/tools.json`, 'utf8')).length > 0)
})
