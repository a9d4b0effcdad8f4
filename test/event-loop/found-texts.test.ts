import t from 'tap'
import { createService } from '../support/service.ts'
import { turnEnvironment, turnsOf } from './service-turns.ts'

const env = turnEnvironment()
const service = await createService(t, {
  files: { 'tools/bin/show': '#!/bin/sh\ncat\n' },
  tools: [{ name: 'show', description: 'A tool.', command: ['./tools/bin/show'], schema: { type: 'object' } }],
  workers: 0,
  env
})
const { client } = service
const leavesLoopsFree = turnsOf(service, env)
const size = 900_000

/** Arguments, and a text that is found late or nowhere in them. */
const worst: Record<string, [arguments_: string, text: string]> = {
  'letters of both cases': ['aA'.repeat(size / 2), `${'aA'.repeat(40)}b`],
  'equal letters': ['A'.repeat(size), `b${'a'.repeat(90)}`],
  'letters of several bytes': ['Ü'.repeat(size / 2), `${'Ü'.repeat(40)}x`],
  'what JSON escapes': ['\n'.repeat(size / 2), `${'\n'.repeat(40)}x`]
}

t.test('promise 10: no text that is looked for holds up the API, whatever the arguments of the jobs', async t => {
  for (const [what, [text, sought]] of Object.entries(worst)) {
    for (let nth = 0; nth < 3; nth++) {
      const answer = await client.request('/v1/jobs', { body: { type: 'agentcli.show', input: { text: text + sought.toUpperCase() } } })
      t.equal(answer.status, 201, answer.text.slice(0, 200))
    }
    for (const path of ['/v1/jobs', '/v1/jobs/counts']) {
      await leavesLoopsFree(t, `${what}, ${path}`, async () => {
        t.equal((await client.request(`${path}?text=${encodeURIComponent(sought)}`)).status, 200)
      })
    }
  }
})
