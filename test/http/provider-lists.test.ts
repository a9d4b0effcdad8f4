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
    ...Array.from({ length: 30 }, (_, at) => entry(`bounded_${at}`, {
      type: 'object', properties: { a: { type: 'integer', minimum: 1 }, b: { type: 'string' }, c: { type: ['string', 'null'] } }, required: ['a', 'c']
    })),
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

t.test("Anthropic is sent as many strict tools as it takes in a request: the operator's first ones, without bounds", async t => {
  interface Listed { name: string, strict?: true, input_schema: { properties: Record<string, unknown> } }
  for (const query of ['', '&defer=1', '&search=bounded&limit=20']) {
    const { tools } = JSON.parse(await list(`format=anthropic&strict=true${query}`)) as { tools: Listed[] }
    const strict = tools.filter(tool => tool.strict)
    t.ok(strict.filter(({ name }) => name.startsWith('bounded_')).length >= 15, `${query} ${strict.length}`)
    t.ok(strict.length <= 20)
    t.ok(strict.filter(({ input_schema: { properties } }) => 'c' in properties).length <= 16, 'choices')
    t.notMatch(JSON.stringify(strict), /minimum/)
    t.notOk(strict.some(({ name }) => name === 'file_read'), 'built-in tools')
    t.match(tools.find(({ name, strict }) => name.startsWith('bounded_') && strict === undefined), { input_schema: { properties: { a: { minimum: 1 } } } })
  }
  const { tools } = JSON.parse(await list('format=responses&strict=true')) as { tools: Listed[] }
  t.ok(tools.filter(({ strict }) => strict).length > 30, 'OpenAI takes any number')
})

t.test('Bedrock is sent the strict tools that Anthropic is sent, with the field that makes them strict; Gemini has no strict tools', async t => {
  interface Listed { name: string, strict?: true, input_schema: object }
  interface Spec { name: string, strict?: true, inputSchema: { json: object } }
  const ofAnthropic = (JSON.parse(await list('format=anthropic&strict=true')) as { tools: Listed[] }).tools.filter(({ strict }) => strict)
  const ofBedrock = (JSON.parse(await list('format=bedrock&strict=true')) as { tools: Array<{ toolSpec: Spec }> }).tools.filter(({ toolSpec }) => toolSpec.strict)
  t.ok(ofAnthropic.length > 0)
  const wanted = ofAnthropic.map(({ name, input_schema: schema }) => [name, schema])
  t.strictSame(ofBedrock.map(({ toolSpec: { name, inputSchema } }) => [name, inputSchema.json]), wanted)
  t.notMatch(await list('format=bedrock'), /"strict"/)
  t.equal(await list('format=gemini&strict=true'), await list('format=gemini'))
})
