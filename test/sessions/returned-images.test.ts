import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { InvokeBatchResponse, SessionView } from '@toolyard/contract'
import { post } from '../mcp/clients.ts'
import { createService, testKeys } from '../support/service.ts'

t.setTimeout(180_000)

/** A picture of two by two pixels. */
const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAE0lEQVR4nGP4z8DAAMIM/7l4pQAaRgMvhsHeQgAAAABJRU5ErkJggg==', 'base64')
const data = png.toString('base64')
const service = await createService(t, {
  files: { 'tools/bin/print': '#!/bin/sh\nexec cat output\n' },
  tools: [{ name: 'print', schema: { type: 'object' }, command: ['./tools/bin/print'], permissions: ['read_repo'] }]
})
const { client } = service

/** A session with a chart, and what a tool there returns. */
async function prepare (output: unknown): Promise<{ id: string, dir: string }> {
  const { body: { session: { id } } } = await client.request<{ session: SessionView }>('/v1/sessions', { body: {} })
  await invoke(id, { calls: [{ call_id: 'c', name: 'print', arguments: {} }] })
  const dir = join(service.dir, 'sessions', id)
  writeFileSync(join(dir, 'chart.png'), png)
  writeFileSync(join(dir, 'table.csv'), '1,2\n')
  writeFileSync(join(dir, 'large.png'), Buffer.concat([png, Buffer.alloc(1_048_576)]))
  writeFileSync(join(dir, 'output'), JSON.stringify(output))
  return { id, dir }
}

async function invoke (session: string, body: object): Promise<InvokeBatchResponse> {
  return (await client.request<InvokeBatchResponse>('/v1/agent-tools/invoke-batch', { body: { ...body, wait_ms: 60_000, session } })).body
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
})

t.test('an image that is too large, or no file of an image, stays a reference', async t => {
  const { id } = await prepare([{ $file: 'large.png' }, { $file: 'table.csv' }])
  const [answer] = (await invoke(id, { output: [responsesCall] })).messages ?? []
  t.match(answer, { output: /"\$file":"large.png"/ })
})

t.test('of an image that was changed since, the message has none: the model would see what the tool did not return', async t => {
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
