import t from 'tap'
import { createService, makeKeys } from '../support/service.ts'
import { turnEnvironment, turnsOf } from './service-turns.ts'

const { keys, API_KEYS_JSON } = makeKeys({ acme: { tenant: 'acme' }, other: { tenant: 'other' } })
const field = { type: 'string', description: 'One of the values that the work needs, as text, with a word on what it is for' }
const tools = Array.from({ length: 1_500 }, (_, at) => ({
  name: `tool_${at}`,
  namespace: 'works',
  description: `Does the work number ${at}`,
  command: ['./tools/bin/none'],
  schema: { type: 'object', properties: Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`field_${at}`, field])) }
}))
const env = { ...turnEnvironment(), API_KEYS_JSON }
const service = await createService(t, { workers: 0, files: { 'tools/bin/none': '#!/bin/sh\necho\n' }, tools, env })
const leavesLoopsFree = turnsOf(service, env)
const { request } = service.client
const searches = {
  calls: Array.from({ length: 20 }, (_, at) => ({ call_id: `c${at}`, name: 'search_tools', arguments: { query: 'the work of values, as text', limit: 50 } })),
  max_output_chars: 200_000
}
const asked: Record<string, { path: string, body?: object }> = {
  'lists of a namespace': { path: '/v1/agent-tools?namespace=works' },
  'deferred lists': { path: '/v1/agent-tools?defer=1&format=anthropic' },
  'lists of what is found': { path: '/v1/agent-tools?search=work+values&limit=50' },
  'overviews of tools': { path: '/v1/registry' },
  'lists of job types': { path: '/v1/job-types' },
  documents: { path: '/openapi.json' },
  searches: { path: '/v1/agent-tools/invoke-batch', body: searches }
}

t.test('promise 10: no lists of tools that are made for many requests at once hold up others', async t => {
  for (const [what, { path, ...body }] of Object.entries(asked)) {
    await request(path, body)
    await leavesLoopsFree(t, what, async () => {
      const answers = await Promise.all(Array.from({ length: 40 }, async () => (await request(path, body)).status))
      t.same([...new Set(answers)], [200])
    })
  }
})

t.test('a list of tools waits for few of another tenant, however many that asks for', async t => {
  const path = '/v1/agent-tools?namespace=works&format=anthropic'
  let answered = 0
  const many = Array.from({ length: 60 }, async () => {
    await request(path, { key: keys.acme })
    answered += 1
  })
  await Promise.race(many)
  await request(path, { key: keys.other })
  t.ok(answered < 30, `${answered} of 60 were answered before`)
  await Promise.all(many)
})
