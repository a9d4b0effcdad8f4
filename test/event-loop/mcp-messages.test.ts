import t from 'tap'
import { createService, testKeys } from '../support/service.ts'
import { meta } from '../mcp/clients.ts'
import { turnEnvironment, turnsOf } from './service-turns.ts'

const env = turnEnvironment()
const service = await createService(t, {
  files: { 'tools/bin/none': '#!/bin/sh\necho\n' },
  tools: [
    { name: 'back', command: ['/bin/cat'], schema: { type: 'object' } },
    { name: 'anything', description: 'A tool.', command: ['./tools/bin/none'], schema: { type: 'object' } },
    { name: 'prompt', command: ['./tools/bin/none'], publishAs: 'prompt', schema: { type: 'object' } },
    { name: 'note', command: ['./tools/bin/none'], publishAs: { uri: 'note:{a}/{b}' }, schema: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } } }
  ],
  env
})
const leavesLoopsFree = turnsOf(service, env)

const names = (count: number, value: unknown): object => Object.fromEntries(Array.from({ length: count }, (_, at) => [`name ${at}`, value]))
/** Values that the protocol's own code finds wrong in each of their parts. */
const wrong = { texts: names(29_000, 'x'), objects: names(14_000, {}), numbers: Array.from({ length: 480_000 }, () => 1) }
const about = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } }
const complete = { ref: { type: 'ref/prompt', name: 'prompt' }, argument: { name: 'a', value: 'b' } }
/** Where a message has them. */
const places: Record<string, (value: unknown) => { method: string, params: object }> = {
  capabilities: experimental => ({ method: 'initialize', params: { ...about, capabilities: { experimental, extensions: experimental, tasks: experimental } } }),
  'the context of a completion': args => ({ method: 'completion/complete', params: { ...complete, context: { arguments: args } } }),
  'arguments of a prompt': args => ({ method: 'prompts/get', params: { name: 'prompt', arguments: args } }),
  'arguments of a tool': args => ({ method: 'tools/call', params: { name: 'anything', arguments: args } }),
  'an answer of a person': inputResponses => ({ method: 'tasks/update', params: { taskId: 'x', inputResponses } }),
  'resources that are watched': resourceSubscriptions => ({ method: 'subscriptions/listen', params: { notifications: { resourceSubscriptions } } }),
  'a token': progressToken => ({ method: 'tools/list', params: { _meta: { progressToken } } })
}

for (const era of ['2025-11-25', '2026-07-28'] as const) {
  t.test(`promise 10: no wrong value in a message of ${era} holds up the API`, async t => {
    for (const [where, messageOf] of Object.entries(places)) {
      for (const [what, value] of Object.entries(wrong)) {
        const { method, params } = messageOf(value)
        const said = '_meta' in params && typeof params._meta === 'object' ? params._meta : {}
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: era === '2026-07-28' ? { ...params, _meta: { ...said, ...meta } } : params })
        const headers = {
          'x-api-key': testKeys.admin,
          'content-type': 'application/json',
          accept: 'application/json',
          'mcp-protocol-version': era,
          ...era === '2026-07-28' && { 'mcp-method': method, ...'name' in params && { 'mcp-name': String(params.name) } }
        }
        await leavesLoopsFree(t, `${what} as ${where}`, async () => {
          const answer = await fetch(`${service.api.address}/mcp`, { method: 'POST', headers, body })
          await answer.text()
        })
      }
    }
  })
}

t.test('promise 10: no number of an output holds up the API, however many zeros it has: it is looked at whether programs round it', async t => {
  const headers = { 'x-api-key': testKeys.admin, 'content-type': 'application/json', accept: 'application/json', 'mcp-protocol-version': '2025-11-25' }
  const number = `0.1${'0'.repeat(100_000)}1`
  const ask = async (path: string, body: string): Promise<void> => {
    const answer = await (await fetch(`${service.api.address}${path}`, { method: 'POST', headers, body })).text()
    t.ok(answer.includes(number), 'all of its digits are there')
  }
  await leavesLoopsFree(t, 'by MCP', () => ask('/mcp', `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"back","arguments":{"a":${number}}}}`))
  await leavesLoopsFree(t, 'for Gemini', () => ask('/v1/agent-tools/invoke-batch', `{"functionCalls":[{"name":"back","args":{"a":${number}}}],"max_output_chars":200000}`))
})
