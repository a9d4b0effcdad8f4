import type { InvokeBatchResponse } from '@toolyard/contract'
import t from 'tap'
import { injectService } from '../support/injected.ts'

const half = 'Half \ud83d of one'
const none = { type: 'object', properties: {} }
const entry = (name: string, schema: object = none, description = 'Looks at what it gets.'): object => (
  { name, description, schema, command: ['./tools/bin/echo'], permissions: [] }
)
const service = await injectService(t, {
  files: { 'tools/bin/echo': '#!/bin/sh\nexec cat\n' },
  tools: [
    entry('7zip_list', { type: 'object', properties: { a: { type: 'integer' } } }),
    entry('half', { type: 'object', properties: { a: { type: 'string', description: half, enum: [half] } } }, half)
  ]
})
const lists = ['chat', 'responses', 'anthropic', 'gemini', 'bedrock'] as const

async function list (query: string): Promise<string> {
  return (await service.client.request(`/v1/agent-tools?${query}`)).text
}

t.test('no list has half a surrogate pair, which providers refuse the whole request for', async t => {
  for (const format of lists) {
    const text = await list(`format=${format}`)
    t.notMatch(text, /\\ud83d/, format)
    t.match(text, /Half \ufffd of one/, format)
  }
})

t.test('Gemini is shown a name that it takes, and calls the tool by it', async t => {
  t.match(await list('format=gemini'), /"name":"_7zip_list"/)
  for (const format of lists.filter(each => each !== 'gemini')) t.match(await list(`format=${format}`), /"name":"7zip_list"/)
  const parts = ['_7zip_list', '7zip_list', '_8zip_list'].map(name => ({ functionCall: { name, args: { a: 1 } } }))
  const { body } = await service.client.request<InvokeBatchResponse>('/v1/agent-tools/invoke-batch', { body: { parts } })
  t.match(body.results, [{ ok: true, output: { a: 1 } }, { ok: true }, { ok: false, error: { code: 'UNKNOWN_TOOL' } }])
  t.match(body.messages, [{ parts: [{ functionResponse: { name: '_7zip_list' } }, {}, {}] }], 'the answer has the name of the call')
})
