import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createService } from '../support/service.ts'
import { endOf } from './job-end.ts'
import { turnEnvironment, turnsOf } from './service-turns.ts'
import { worstTexts } from './worst-texts.ts'

const env = turnEnvironment()
const service = await createService(t, {
  files: {
    'tools/bin/show': '#!/bin/sh\ncat out\n',
    'tools/bin/fail': '#!/bin/sh\ncat out >&2; exit 1\n'
  },
  tools: ['show', 'fail'].map(name => ({ name, description: 'A tool.', command: [`./tools/bin/${name}`], schema: { type: 'object' } })),
  env
})
const { client } = service
const leavesLoopsFree = turnsOf(service, env)
const megabyte = 1_048_576
/** Read in other ways than the rest; `outputs.test.ts` lets a worker read each. */
const telling = new Set(['equal letters', 'line feeds', 'control characters', 'quotes', 'backslashes', 'letters of three bytes', 'lists', 'objects', 'numbers', 'fields', 'objects of all shapes', 'a line of JSON without end'])

const write = (text: string): void => { writeFileSync(join(service.dir, 'workspace', 'out'), text) }

async function submit (key: string): Promise<string | undefined> {
  const { body } = await client.request<{ job?: { id: string } }>('/v1/jobs', { body: { type: 'agentcli.show', input: {} }, headers: { 'idempotency-key': key } })
  return body.job?.id
}

/** The JSON of what a command's output is to its caller. */
function outputJson (text: string): string {
  const trimmed = text.trim()
  if (trimmed === '') return '{}'
  return /^[[{]/.test(trimmed) && !trimmed.startsWith('["') ? trimmed : JSON.stringify(trimmed)
}

t.test('promise 10: no stored output holds up the API when it is read again', async t => {
  for (const [what, text] of Object.entries(worstTexts(megabyte - 10)).filter(([what]) => telling.has(what))) {
    write(text)
    const key = what.replaceAll(' ', '-')
    const id = await submit(key) ?? ''
    t.equal(await endOf(client, id), 'succeeded')
    await leavesLoopsFree(t, `${what} at GET /v1/jobs/:id`, async () => {
      const { status, text: answer } = await client.request(`/v1/jobs/${id}`)
      t.ok(status === 200 && answer.includes(outputJson(text)), `${what}: the answer has the whole output`)
    })
    await leavesLoopsFree(t, `${what} at POST /v1/tools/:name`, async () => {
      const { status, text: answer } = await client.request('/v1/tools/show', { method: 'POST' })
      t.ok(status === 200 && answer === outputJson(text), `${what}: the answer is the whole output`)
    })
    for (const path of ['stream', 'logs']) {
      await leavesLoopsFree(t, `${what} at GET /v1/jobs/:id/${path}`, async () => {
        const { status, text: answer } = await client.request(`/v1/jobs/${id}/${path}`)
        t.ok(status === 200 && (path === 'logs' || answer.includes('succeeded')), `${what}: ${path} is answered`)
      })
    }
    await leavesLoopsFree(t, `${what} at POST /v1/jobs once more`, async () => { t.equal(await submit(key), id) })
  }
})

t.test('promise 10: no failures hold up the API or a worker', async t => {
  for (const what of ['lists', 'objects', 'fields', 'objects of all shapes'] as const) {
    write(`{"error":"no","more":${worstTexts(65_000)[what] ?? ''}}`)
    const calls = Array.from({ length: 20 }, (_, at) => ({ call_id: String(at), name: 'fail' }))
    const fail = async (): Promise<void> => {
      const { results } = await client.batch(calls)
      t.ok(results.every(({ error }) => error?.code === 'TOOL_FAILED' && error.message === 'no'), 'each call fails as its tool says')
    }
    await leavesLoopsFree(t, `20 failures of ${what}`, fail)
  }

  const details = worstTexts(65_000)['lists'] ?? ''
  write(`{"error":"no","more":${details}}`)
  for (let at = 0; at < 10; at++) await client.batch(Array.from({ length: 20 }, (_, at) => ({ call_id: String(at), name: 'fail' })))
  await leavesLoopsFree(t, 'a list of failures', async () => {
    const { body: { jobs = [] } } = await client.request<{ jobs?: Array<{ error: { details: { more: unknown } } }> }>('/v1/jobs?limit=200')
    t.ok(jobs.length === 200 && jobs.every(({ error }) => JSON.stringify(error.details.more) === details), 'each has its details')
  })
})
