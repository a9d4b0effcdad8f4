import type { CallResult, ToolList } from '@toolyard/contract'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { runToolyard } from '../cli/toolyard.ts'
import { waitFor } from '../support/condition.ts'
import { serveMcp } from '../support/mcp-server.ts'
import { meta, rpc } from '../mcp/clients.ts'
import { createService, testKeys } from '../support/service.ts'
import { turnEnvironment, turnsOf } from './service-turns.ts'

/* An MCP server of 2026 that asks for more than can be asked: megabytes of pictures, deep values, thousands of questions. */

const model = (params: object): object => ({ method: 'sampling/createMessage', params: { messages: [], maxTokens: 1, ...params } })
const picture = { role: 'user', content: { type: 'image', mimeType: 'image/png', data: 'A'.repeat(1_500_000) } }
const deep = (levels: number): object => levels === 0 ? {} : { a: deep(levels - 1) }
const worst: Record<string, object> = {
  picture: { inputRequests: { m: model({ messages: [picture] }) } },
  pictures: { inputRequests: Object.fromEntries([1, 2].map(at => [`m${at}`, model({ messages: [picture] })])) },
  deep: { inputRequests: { m: model({ metadata: deep(400) }) } },
  eleven: { inputRequests: Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`m${at}`, model({})])) },
  thousands: { inputRequests: Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`m${at}`, { method: 'roots/list' }])) },
  values: { inputRequests: { m: model({ stopSequences: Array.from({ length: 200_000 }, () => '') }) } },
  key: { inputRequests: { ['k'.repeat(1_000_000)]: { method: 'roots/list' } } },
  method: { inputRequests: { m: { method: 'x'.repeat(1_000_000) } } },
  state: { inputRequests: { m: { method: 'roots/list' } }, requestState: 's'.repeat(1_000_000) },
  list: { inputRequests: [] },
  nothing: { inputRequests: { m: null } }
}
const results: Record<string, (params: Record<string, unknown>) => object> = {
  'server/discover': () => ({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, serverInfo: { name: 'worst', version: '1' }, ttlMs: 0, cacheScope: 'private' }),
  'tools/list': () => ({ tools: Object.keys(worst).map(name => ({ name, inputSchema: { type: 'object' } })), ttlMs: 0, cacheScope: 'private' }),
  'tools/call': ({ name }) => ({ resultType: 'input_required', ...worst[String(name)] })
}
const { url } = await serveMcp(t, ({ method, params }) => {
  const result = results[method]?.(params)
  return result && { resultType: 'complete', ...result }
})

const env = { ...turnEnvironment(), HTTP_PRIVATE_HOSTS: '127.0.0.1' }
const service = await createService(t, { files: {}, tools: [], env })
const { client, dir } = service
const leavesLoopsFree = turnsOf(service, env)
await writeFile(join(dir, 'tools.json'), JSON.stringify({ tools: [{ name: 'worst', asks: true, mcp: { url } }] }))
const accepting = { HTTP_PRIVATE_HOSTS: '127.0.0.1', SANDBOX: 'off', WORKSPACE_DIR: join(dir, 'workspace') }
const { status, stdout, stderr } = await runToolyard(['accept', 'tools.json', '--yes'], { cwd: dir, env: accepting })
if (status !== 0) throw new Error(stdout + stderr)
await waitFor('it is published', async () => (
  (await client.request<ToolList>('/v1/agent-tools')).body.tools.some(tool => tool.function.name === 'worst_picture')
))

async function call (name: string): Promise<CallResult> {
  return await waitFor('the worker knows the tool', async () => {
    const result = await client.call(`worst_${name}`)
    return !['UNKNOWN_TOOL', 'TOOL_UNAVAILABLE'].includes(result.error?.code ?? '') && result
  })
}

t.test('promise 10: values of a server that are as deep as outputs may be are asked, and shown', async t => {
  const id = (await call('deep'))?.job_id ?? ''
  const about = { ...meta, 'io.modelcontextprotocol/clientCapabilities': { sampling: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } } }
  await leavesLoopsFree(t, 'deep values', async () => {
    t.match((await client.request(`/v1/jobs/${id}`)).body, { job: { question: { params: { metadata: { a: { a: {} } } } } } })
    const { body } = await rpc(service.api.address, 'tasks/get', { taskId: id }, { key: testKeys.admin, meta: about })
    t.match(body, { result: { status: 'input_required', inputRequests: { answer: { params: { metadata: { a: { a: {} } } } } } } })
  })
  t.equal((await client.request(`/v1/jobs/${id}/answer`, { body: { answer: { role: 'assistant', model: 'm', content: { type: 'text', text: '' } } } })).status, 200)
})

for (const name of Object.keys(worst).filter(name => name !== 'deep')) {
  t.test(`promise 10: what a server asks for that can not be asked fails its call in short turns: ${name}`, { timeout: 60_000 }, async t => {
    await call(name)
    await leavesLoopsFree(t, name, async () => {
      const result = await call(name)
      const { code = '', message = '' } = result?.error ?? {}
      t.match({ ok: result?.ok, code, message }, { ok: false, code: /^(?:QUESTION|OUTPUT)_INVALID$/, message: /./ }, `${code} ${message.slice(0, 150)}`)
      t.ok(message.length < 1_000, `${message.length} characters`)
    })
  })
}
