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
  t.match(await listed('?format=anthropic&strict=true', 'data_file_read'), { name: 'data_file_read', strict: true, input_schema: { additionalProperties: false } })
  const tags = await Promise.all(['', '?format=chat', '?format=responses', '?format=anthropic', '?strict=true'].map(async query => (await client.request(`/v1/agent-tools${query}`)).headers.get('etag')))
  t.equal(tags[0], tags[1])
  t.equal(new Set(tags).size, 4)
  t.equal((await client.request('/v1/agent-tools?format=cohere')).status, 400)
  const gemini = (await client.request<{ tools: Array<{ functionDeclarations: Array<{ name: string }> }>, count: number }>('/v1/agent-tools?format=gemini')).body
  t.equal(gemini.tools.length, 1)
  t.equal(gemini.tools[0]?.functionDeclarations.length, gemini.count)
  t.same(gemini.tools[0]?.functionDeclarations.find(({ name }) => name === 'echo_strict'), { ...echo, parametersJsonSchema: parameters })
  const bedrock = (await client.request<{ tools: Array<{ toolSpec: { name: string } }> }>('/v1/agent-tools?format=bedrock')).body
  t.same(bedrock.tools.find(({ toolSpec }) => toolSpec.name === 'echo_strict'), { toolSpec: { ...echo, inputSchema: { json: parameters } } })
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

t.test('R5 the list is {ok, tools, count}', async t => {
  const { status, body } = await client.request<ToolList>('/v1/agent-tools')
  t.equal(status, 200)
  t.equal(body.ok, true)
  t.equal(body.count, body.tools.length)
  t.same(Object.keys(body), ['ok', 'tools', 'count'])
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

t.test('R7 data_file_read is published as documented', async t => {
  const spec = (await list(testKeys.admin)).tools.find(tool => tool.function.name === 'data_file_read')
  t.equal(spec?.function.description, 'Read a UTF-8 text file from workspace.')
  t.match(spec?.function.parameters, {
    properties: { path: { type: 'string' }, max_bytes: { type: 'integer', minimum: 512, maximum: 1048576 } }, required: ['path'], additionalProperties: false
  })
})

t.test('R8 tools_file_search is published as documented', async t => {
  const spec = (await list(testKeys.admin)).tools.find(tool => tool.function.name === 'tools_file_search')
  t.equal(spec?.function.description, 'Search files by path/name under workspace.')
  t.match(spec?.function.parameters, {
    properties: { query: { type: 'string' }, path: { type: 'string' }, max_results: { type: 'integer', minimum: 1, maximum: 200 }, include_hidden: { type: 'boolean' } },
    required: ['query'],
    additionalProperties: false
  })
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

t.test('RC31 the tools of the workspace are listed without any flag', async t => {
  const names = (await list(testKeys.read)).tools.map(tool => tool.function.name)
  for (const name of ['data_file_read', 'data_write_file', 'tools_file_search', 'tools_find_in_files', 'workflow_run']) t.ok(names.includes(name), name)
  for (const name of ['tool_exec', 'data_fetch', 'tools_web_search', 'workspace_delete']) t.notOk(names.includes(name), name)
})

t.test('R46 the documented host and port are the defaults', async t => {
  const { readSettings } = await import('@toolyard/runtime')
  const settings = readSettings({})
  t.equal(settings.HOST, '127.0.0.1')
  t.equal(settings.PORT, 3001)
})

t.test('no key appears in the log of the API', async t => {
  const log = await service.api.output()
  for (const key of Object.values(testKeys)) t.notOk(log.includes(key))
  t.ok((await readFile(`${service.dir}/tools.json`, 'utf8')).length > 0)
})
