import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { createService } from '../support/service.ts'
import { turnEnvironment, turnsOf } from './service-turns.ts'

const env = turnEnvironment()
const service = await createService(t, {
  files: {
    'tools/bin/none': '#!/bin/sh\necho\n',
    'tools/bin/lines': '#!/usr/bin/env node\nfor (let at = 0; at < 2000; at++) process.stderr.write(process.argv[2].repeat(4095) + "\\n")\n'
  },
  tools: [
    { name: 'anything', description: 'A tool.', command: ['./tools/bin/none'], schema: { type: 'object' } },
    { name: 'strict', description: 'A tool.', command: ['./tools/bin/none'], schema: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string', default: 'x' } }, additionalProperties: false } },
    { name: 'lines', description: 'A tool.', command: ['./tools/bin/lines', '{{c}}'], schema: { type: 'object', properties: { c: { type: 'string' } } } }
  ],
  env
})
const { client } = service
const leavesLoopsFree = turnsOf(service, env)
const fields = (first: string): string => `{${first}${Array.from({ length: 29_900 }, (_, at) => `"${'x'.repeat(20)}${at}":0`).join(',')}}`
let keys = 0
const call = (
  name: string, args: string, headers: Record<string, string> = {}
): Promise<{ status: number, body: { results?: Array<{ error?: { code: string } }> } }> => (
  client.request('/v1/agent-tools/invoke-batch', { body: `{"calls":[{"call_id":"1","name":"${name}","arguments":${args}}]}`, headers })
)

t.test('promise 10: no list of small values holds up the API, with an Idempotency-Key or without', async t => {
  const lists = { numbers: '0,'.repeat(500_000), texts: '"",'.repeat(340_000), 'numbers and lists': `${'0,'.repeat(20)}[],`.repeat(22_000) }
  for (const name of ['anything', 'no_such_tool']) {
    for (const [what, items] of Object.entries(lists)) {
      await leavesLoopsFree(t, `a list of ${what} for ${name}`, () => call(name, `{"a":[${items}0]}`))
      await leavesLoopsFree(t, `a list of ${what} for ${name} with a key`, () => call(name, `{"a":[${items}0]}`, { 'idempotency-key': `key ${keys++}` }))
    }
  }
})

t.test("promise 10: no arguments of a model's message hold up the API, valid or broken, and no names that resemble a tool's", async t => {
  const post = (message: object): Promise<unknown> => client.request('/v1/agent-tools/invoke-batch', { body: message })
  const of = (text: string, name = 'strict'): object => ({ tool_calls: [{ id: '1', type: 'function', function: { name, arguments: text } }] })
  const large = { text: JSON.stringify({ a: 'x'.repeat(900_000) }), numbers: `{"a":[${'0,'.repeat(440_000)}0]}`, fields: fields('').slice(0, -5) + '0}', lines: `{${'\n'.repeat(400_000)}"a":}`, 'a list that breaks off': `{"a":[${'0,'.repeat(440_000)}` }
  for (const [what, text] of Object.entries(large)) await leavesLoopsFree(t, `arguments: ${what}`, () => post(of(text)))
  await leavesLoopsFree(t, 'twenty names', () => post({ tool_calls: Array.from({ length: 20 }, (_, at) => ({ id: `${at}`, function: { name: `anythin${'g'.repeat(at)}`, arguments: '{}' } })) }))
  await leavesLoopsFree(t, 'a name of 900 KB', () => post(of('{}', 'strict'.repeat(150_000))))
})

t.test('promise 10: no unknown fields hold up the API', async t => {
  for (const [what, args] of Object.entries({ 'unknown fields': fields(''), 'a null and unknown fields': fields('"a":null,') })) {
    t.match(await call('strict', args), { status: 200, body: { results: [{ error: { code: 'INVALID_ARGUMENTS' } }] } })
    await leavesLoopsFree(t, `${what} of a call`, () => call('strict', args))
    await leavesLoopsFree(t, `${what} of a call with a key`, () => call('strict', args, { 'idempotency-key': `key ${keys++}` }))
    await leavesLoopsFree(t, `${what} of a job`, () => client.request('/v1/jobs', { body: `{"type":"agentcli.strict","input":${args}}` }))
  }
})

t.test('promise 10: no log of a job holds up the API when it is read', async t => {
  for (const c of ['"', '\u0001', 'é', 'x']) {
    const { body: { job: { id } } } = await client.request<{ job: { id: string } }>('/v1/jobs', { body: { type: 'agentcli.lines', input: { c } } })
    await waitFor('the job has ended', async () => (await client.request<{ job: { status: string } }>(`/v1/jobs/${id}`)).body.job.status === 'succeeded', 30_000)
    t.equal((await client.request<{ count: number, logs: unknown[] }>(`/v1/jobs/${id}/logs?tail=2000`)).body.logs.length, 2_000)
    for (const path of ['logs?tail=2000', 'stream']) await leavesLoopsFree(t, `${path} of lines of ${JSON.stringify(c)}`, () => client.request(`/v1/jobs/${id}/${path}`))
  }
})
