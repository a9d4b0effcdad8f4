import type { InvokeBatchResponse } from '@toolyard/contract'
import t from 'tap'
import { reach } from '../jobs/submission.ts'
import { createService } from '../support/service.ts'
import { turnEnvironment, turnsOf } from './service-turns.ts'

/* Held calls with large arguments, and large answers to questions. */

const env = turnEnvironment()
const asking = { text: 'Which?', schema: { type: 'object', properties: { text: { type: 'string' } } } }
const service = await createService(t, {
  files: {
    'tools/bin/echo': '#!/bin/sh\ncat\n',
    'tools/bin/ask': `#!/bin/sh\ncat > /dev/null\n[ -n "$TOOLYARD_ANSWER" ] && { echo done; exit; }\necho '${JSON.stringify({ $ask: asking })}'\n`
  },
  tools: [
    { name: 'pay', schema: { type: 'object' }, command: ['./tools/bin/echo'], approval: { self: true } },
    { name: 'ask', schema: { type: 'object' }, command: ['./tools/bin/ask'], asks: true }
  ],
  env
})
const { client } = service
const leavesLoopsFree = turnsOf(service, env)
const long = 900_000
const worst: Record<string, object | string> = {
  'a long text': { text: 'x'.repeat(long) },
  'many fields': Object.fromEntries(Array.from({ length: 14_000 }, (_, at) => [`field ${at} ${'y'.repeat(40)}`, at])),
  'many lists': { lists: Array.from({ length: 14_000 }, (_, at) => [`item ${at} ${'z'.repeat(40)}`]) },
  'control characters': { text: '\u0001'.repeat(long / 6) },
  'numbers as they were written': `{${Array.from({ length: 14_000 }, (_, at) => `"${at} ${'y'.repeat(40)}":1.0`).join(',')}}`
}

const jsonOf = (args: object | string): string => typeof args === 'string' ? args : JSON.stringify(args)

async function hold (args: object | string): Promise<string> {
  const sent = `{"calls":[{"call_id":"c","name":"pay","arguments":${jsonOf(args)}}]}`
  const { body } = await client.request<InvokeBatchResponse>('/v1/agent-tools/invoke-batch', { body: sent })
  return body.results[0]?.job_id ?? ''
}

async function decide (id: string, decision: 'approve' | 'deny', reason = 'r'.repeat(1_000)): Promise<number> {
  return (await client.decide(await client.held(id), decision, { reason })).status
}

for (const [what, args] of Object.entries(worst)) {
  t.test(`promise 10: held calls with ${what} are taken in, listed, shown beside one before, and decided in short turns`, { timeout: 120_000 }, async t => {
    const before = await hold(args)
    t.equal(await decide(before, 'approve'), 200)
    await reach(client, before, 'succeeded')
    const ids: string[] = []
    await leavesLoopsFree(t, `${what}, submitted`, async () => { ids.push(await hold(args)) })
    while (ids.length < 5) ids.push(await hold(args))
    await leavesLoopsFree(t, `${what}, listed`, async () => { t.equal((await client.request('/v1/approvals')).status, 200) })
    await leavesLoopsFree(t, `${what}, shown`, async () => { t.equal((await client.request(`/v1/approvals/${ids[0]}`)).status, 200) })
    await leavesLoopsFree(t, `${what}, decided`, async () => { t.equal(await decide(ids.pop() ?? '', 'deny'), 200) })
    await leavesLoopsFree(t, `${what}, in the arguments of a reason`, async () => {
      const { status } = await client.request(`/v1/approvals/${ids[0]}`, { body: { decision: 'deny', digest: '0'.repeat(64), reason: jsonOf(args) } })
      t.ok([400, 413].includes(status), `${status}`)
    })
    for (const id of ids) await client.request(`/v1/jobs/${id}/cancel`, { method: 'POST' })
  })

  t.test(`promise 10: an answer to a question with ${what} is taken in short turns`, { timeout: 120_000 }, async t => {
    const { job_id: id = '' } = await client.call('ask')
    await reach(client, id, 'input_required')
    await leavesLoopsFree(t, `${what}, answered`, async () => {
      const { status } = await client.request(`/v1/jobs/${id}/answer`, { body: `{"answer":${jsonOf(args)},"number":1}` })
      t.ok(status === 200 || status === 400 || status === 413 || status === 409, `${status}`)
    })
    await client.request(`/v1/jobs/${id}/cancel`, { method: 'POST' })
  })
}
