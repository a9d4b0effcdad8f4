import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { startService } from '../support/service.ts'
import { turnEnvironment, turnsOf } from './service-turns.ts'
import { worstTexts } from './worst-texts.ts'

const show = '#!/bin/sh\ncat out\n'
const env = turnEnvironment()
const service = await startService(t, {
  files: {
    'tools/bin/show': show,
    'tools/bin/fail': '#!/bin/sh\ncat out >&2; exit 1\n'
  },
  tools: ['show', 'fail'].map(name => ({ name, description: 'A tool.', command: [`./tools/bin/${name}`], schema: { type: 'object' } })),
  env
})
const { client } = service
const leavesLoopsFree = turnsOf(service, env)
const megabyte = 1_048_576

const write = (name: string, text: string): void => { writeFileSync(join(service.dir, 'workspace', name), text) }

async function submit (type: string, input: object = {}, key?: string): Promise<string> {
  const { body } = await client.request<{ job: { id: string } }>('/v1/jobs', { body: { type, input }, headers: key === undefined ? {} : { 'idempotency-key': key } })
  return body.job.id
}

async function statusOf (id: string): Promise<string | undefined> {
  const { body } = await client.request<{ jobs: Array<{ id: string, status: string }> }>('/v1/jobs?limit=200')
  return body.jobs.find(job => job.id === id)?.status
}

async function ended (id: string): Promise<string | undefined> {
  return await waitFor('the job has ended', async () => {
    const status = await statusOf(id)
    return status === 'succeeded' || status === 'failed' ? status : undefined
  }, 30_000)
}

t.test('promise 10: no stored output holds up the API when it is read again', async t => {
  for (const [what, text] of Object.entries(worstTexts(megabyte - 10))) {
    write('out', text)
    const id = await submit('agentcli.show', {}, what.replaceAll(' ', '-'))
    await ended(id)
    for (const path of ['', '/stream', '/logs']) {
      await leavesLoopsFree(t, `${what} at GET /v1/jobs/:id${path}`, () => client.request(`/v1/jobs/${id}${path}`))
    }
    await leavesLoopsFree(t, `${what} at POST /v1/jobs once more`, () => submit('agentcli.show', {}, what.replaceAll(' ', '-')))
  }
})

t.test('promise 10: no failures hold up the API or a worker', async t => {
  for (const what of ['lists', 'objects', 'fields', 'objects of all shapes'] as const) {
    write('out', `{"error":"no","more":${worstTexts(65_000)[what] ?? ''}}`)
    const calls = Array.from({ length: 20 }, (_, at) => ({ call_id: String(at), name: 'fail' }))
    await leavesLoopsFree(t, `20 failures of ${what}`, () => client.batch(calls))
    for (let at = 0; at < 10; at++) await client.batch(calls)
    await leavesLoopsFree(t, `a list of failures of ${what}`, () => client.request('/v1/jobs?limit=200'))
  }
})
