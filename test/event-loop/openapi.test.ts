import t from 'tap'
import { createService } from '../support/service.ts'
import { turnEnvironment, turnsOf } from './service-turns.ts'

const fields = (count: number, field: object): object => Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, field]))
/** As many tools as an operator may have, some 4 MB of schemas: many plain ones, and some that are large and refer to themselves. */
const tools = Array.from({ length: 1_000 }, (_, at) => ({
  name: `tool_${at}`,
  description: `Does the work number ${at}. `.repeat(20),
  command: ['./tools/bin/none'],
  schema: at % 100 === 0
    ? { type: 'object', properties: fields(1_500, { $ref: '#/definitions/node' }), definitions: { node: { properties: { next: { $ref: '#' } } } } }
    : { type: 'object', properties: fields(20, { type: 'string', description: 'One of the values that the work needs, as text.' }) }
}))
const env = turnEnvironment()
const service = await createService(t, { workers: 0, files: { 'tools/bin/none': '#!/bin/sh\necho\n' }, tools, env })
const leavesLoopsFree = turnsOf(service, env)

t.test('promise 10: the document of 1,000 tools holds up no other request', async t => {
  let bytes = 0
  const read = async (): Promise<void> => {
    const { status, text } = await service.client.request('/openapi.json')
    t.equal(status, 200)
    bytes = text.length
  }
  let enabled = true
  await leavesLoopsFree(t, 'a document that is made anew', async () => {
    enabled = !enabled
    await service.client.request('/v1/job-types/agentcli.tool_1', { method: 'PATCH', body: { enabled } })
    await read()
  })
  await leavesLoopsFree(t, 'one that is there', read)
  t.ok(bytes > 3_000_000, `${bytes} characters`)
})
