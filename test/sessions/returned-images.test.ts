import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { InvokeBatchResponse, SessionView } from '@toolyard/contract'
import { meta, post, rpc } from '../mcp/clients.ts'
import { waitFor } from '../support/condition.ts'
import { createService, makeKeys, testKeys } from '../support/service.ts'

t.setTimeout(180_000)

/** A picture of two by two pixels. */
const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAE0lEQVR4nGP4z8DAAMIM/7l4pQAaRgMvhsHeQgAAAABJRU5ErkJggg==', 'base64')
const data = png.toString('base64')
const { keys, API_KEYS_JSON } = makeKeys({ bound: { permissions: ['network'] } })
const service = await createService(t, {
  files: {
    'tools/bin/print': '#!/bin/sh\nexec cat output\n',
    'tools/bin/later': '#!/bin/sh\nwhile [ ! -e go ]; do sleep 0.05; done\nexec cat output\n',
    'tools/bin/tell': '#!/bin/sh\necho \'{"$file":"chart.png"}\'\n',
    'tools/bin/draw': '#!/bin/sh\nexec cat "$(dirname "$0")/chart.png"\n'
  },
  tools: [
    ...['print', 'later'].map(name => ({ name, schema: { type: 'object' }, command: [`./tools/bin/${name}`], permissions: ['read_repo'] })),
    ...['tell', 'draw'].map(name => ({ name, schema: { type: 'object' }, command: [`./tools/bin/${name}`], permissions: ['network'] }))
  ],
  env: { API_KEYS_JSON }
})
const { client } = service
writeFileSync(join(service.dir, 'tools/bin/chart.png'), png)

/** A session with a chart, and what a tool there returns. */
async function prepare (output: unknown): Promise<{ id: string, dir: string }> {
  const { body: { session: { id } } } = await client.request<{ session: SessionView }>('/v1/sessions', { body: {} })
  await invoke(id, { calls: [{ call_id: 'c', name: 'print', arguments: {} }] })
  const dir = join(service.dir, 'sessions', id)
  writeFileSync(join(dir, 'chart.png'), png)
  writeFileSync(join(dir, 'table.csv'), '1,2\n')
  writeFileSync(join(dir, 'large.png'), Buffer.concat([png, Buffer.alloc(1_048_576)]))
  const tall = Buffer.from(png)
  tall.writeUInt32BE(8_001, 20)
  writeFileSync(join(dir, 'tall.png'), tall)
  writeFileSync(join(dir, 'output'), JSON.stringify(output))
  return { id, dir }
}

async function invoke (session: string, body: object, key: string = testKeys.admin): Promise<InvokeBatchResponse> {
  return (await client.request<InvokeBatchResponse>('/v1/agent-tools/invoke-batch', { body: { ...body, wait_ms: 60_000, session }, key })).body
}

const call = { type: 'function', id: 'c', function: { name: 'print', arguments: '{}' } }
const responsesCall = { type: 'function_call', call_id: 'c', name: 'print', arguments: '{}' }
const anthropicCall = { type: 'tool_use', id: 'c', name: 'print', input: {} }

t.test('a small image that a tool returns is an image in the messages of the providers that take one', async t => {
  const { id } = await prepare({ text: 'see', chart: { $file: 'chart.png' }, again: { $file: 'chart.png' }, table: { $file: 'table.csv' } })
  const [responses] = (await invoke(id, { output: [responsesCall] })).messages ?? []
  t.match(responses, {
    type: 'function_call_output',
    output: [
      { type: 'input_text', text: /"\$file":"chart.png"/ },
      { type: 'input_image', image_url: `data:image/png;base64,${data}` }
    ]
  })
  t.equal((responses as { output: unknown[] }).output.length, 2, 'each image once, and nothing else')
  const [anthropic] = (await invoke(id, { content: [anthropicCall] })).messages ?? []
  t.match(anthropic, {
    role: 'user',
    content: [{
      tool_use_id: 'c',
      content: [
        { type: 'text', text: /"\$file":"chart.png"/ },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }
      ]
    }]
  })
  const [chat] = (await invoke(id, { tool_calls: [call] })).messages ?? []
  t.type((chat as { content: unknown }).content, 'string', 'chat completions take texts alone from tools')
})

t.test('in MCP it is a block of the type image', async t => {
  const { id } = await prepare({ $file: 'chart.png' })
  const { body } = await post(`${service.api.address}/mcp?session=${id}`, {
    jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'print', arguments: {} }
  }, { 'x-api-key': testKeys.admin, 'mcp-protocol-version': '2025-06-18' })
  t.match(body.result?.['content'], [{ type: 'text' }, { type: 'image', mimeType: 'image/png', data }])
  t.equal(body.result?.['structuredContent'], undefined, 'clients that show a structure alone would hide the picture')
})

t.test('a task of MCP has it too, once it has ended', async t => {
  const { id, dir } = await prepare({ $file: 'chart.png' })
  const about = { ...meta, 'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } } }
  const ask = async (method: string, params: Record<string, unknown>): Promise<Record<string, unknown>> => {
    return (await rpc(service.api.address, method, params, { key: testKeys.admin, meta: about, path: `/mcp?session=${id}` })).body.result ?? {}
  }
  const created = await ask('tools/call', { name: 'later', arguments: {} })
  t.match(created, { resultType: 'task', status: 'working' })
  writeFileSync(join(dir, 'go'), '')
  const ended = await waitFor('the task ends', async () => {
    const task = await ask('tasks/get', { taskId: created['taskId'] })
    return task['status'] !== 'working' && task
  })
  t.match(ended, { status: 'completed', result: { content: [{ type: 'text' }, { type: 'image', mimeType: 'image/png', data }] } })
})

t.test('a key that may not read files gets the reference to what a tool returned, and neither the image nor the file', async t => {
  const { id } = await prepare({})
  const drawing = { ...responsesCall, name: 'draw' }
  t.match((await invoke(id, { output: [drawing] })).messages, [{ output: [{ type: 'input_text' }, { type: 'input_image' }] }], 'another key sees it')
  const { results, messages } = await invoke(id, { output: [drawing] }, keys.bound)
  t.match(results, [{ ok: true, output: { $file: 'stdout.bin', type: 'image/png', size: png.length } }])
  t.match(messages, [{ output: /"\$file":"stdout.bin"/ }], 'a text alone')
  const headers = { 'x-api-key': keys.bound, 'mcp-protocol-version': '2025-06-18' }
  const mcp = async (method: string, params: object): Promise<string> => {
    return (await post(`${service.api.address}/mcp?session=${id}`, { jsonrpc: '2.0', id: 1, method, params }, headers)).text
  }
  const answer = await mcp('tools/call', { name: 'draw', arguments: {} })
  t.match(answer, 'stdout.bin')
  t.match(await mcp('resources/read', { uri: 'workspace:///stdout.bin' }), '"error"')
  for (const text of [answer, await mcp('resources/read', { uri: 'workspace:///chart.png' })]) t.notOk(text.includes(data))
  for (const path of ['stdout.bin', 'chart.png', '', '?archive=tar']) {
    const file = await client.request(`/v1/sessions/${id}/files${path === '' || path.startsWith('?') ? path : `/${path}`}`, { key: keys.bound })
    t.match(file, { status: 403, body: { error: { code: 'FORBIDDEN', message: "This API key has no permission 'read_repo'." } } }, path)
  }
})

t.test('a tool that may not read files tells nothing of those that it names', async t => {
  const { id } = await prepare({})
  for (const key of [keys.bound, testKeys.admin]) {
    const { results: [result] } = await invoke(id, { calls: [{ call_id: 'c', name: 'tell', arguments: {} }] }, key)
    t.match(result, { ok: false, error: { code: 'OUTPUT_INVALID', message: /the file "chart.png": the tool needs the permission read_repo for that$/ } })
    t.notMatch(JSON.stringify(result), /sha256|image.png/)
  }
})

t.test('an image of too many bytes or pixels, or no file of an image, stays a reference', async t => {
  const { id } = await prepare([{ $file: 'large.png' }, { $file: 'tall.png' }, { $file: 'table.csv' }])
  const [answer] = (await invoke(id, { output: [responsesCall] })).messages ?? []
  t.match(answer, { output: /"\$file":"large.png".*"\$file":"tall.png"/ })
})

t.test('a message leaves out an image that was changed since: the model would see what the tool did not return', async t => {
  const { id, dir } = await prepare({ $file: 'chart.png' })
  const key = { 'idempotency-key': 'once' }
  const ask = async (): Promise<InvokeBatchResponse> => (await client.request<InvokeBatchResponse>('/v1/agent-tools/invoke-batch', {
    body: { output: [responsesCall], wait_ms: 60_000, session: id }, headers: key
  })).body
  const [first] = (await ask()).messages ?? []
  t.match(first, { output: [{ type: 'input_text' }, { type: 'input_image' }] })
  const other = readFileSync(join(dir, 'chart.png'))
  other[other.length - 1] = 0
  writeFileSync(join(dir, 'chart.png'), other)
  const [second] = (await ask()).messages ?? []
  t.type((second as { output: unknown }).output, 'string')
})
