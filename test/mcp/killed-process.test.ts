import type { JobView } from '@toolyard/contract'
import t from 'tap'
import { reach, read } from '../jobs/submission.ts'
import { createService, testKeys } from '../support/service.ts'
import { rawSession } from './asked-clients.ts'

const schema = { type: 'object', properties: { seat: { type: 'string' } }, required: ['seat'] }
const book = `#!/bin/sh
cat > /dev/null
[ -n "$TOOLYARD_ANSWER" ] && exec cat "$TOOLYARD_ANSWER"
echo '${JSON.stringify({ $ask: { text: 'Which?', schema } })}'
`
const { client, api, startApi } = await createService(t, {
  files: { 'tools/bin/book': book }, tools: [{ name: 'book', schema: { type: 'object' }, command: ['./tools/bin/book'], asks: true }]
})
const said = (seat: string): object => ({ action: 'accept', content: { seat } })

t.test('when the API process is killed that has asked a client of 2025, the job waits, and is answered at another process once', async t => {
  const doomed = await startApi()
  const session = await rawSession(doomed.address, testKeys.admin, { elicitation: {} })
  const call = await session.call(doomed.address, 'book')
  const { id: before } = await call.next()
  await doomed.stop('SIGKILL')
  await t.rejects(call.next(), 'the stream breaks off')
  const { body: { jobs: [job] } } = await client.request<{ jobs: JobView[] }>('/v1/jobs?status=input_required&tool=book')
  const id = job?.id ?? ''
  t.equal((await session.say(api.address, { id: before, result: said('late') })).status, 202, 'a process that has not asked takes it for nothing')

  const later = await session.call(api.address, 'job_result', { job_id: id }, 'later')
  const asked = await later.next()
  t.match(asked, { method: 'elicitation/create', params: { message: 'Which?' } })
  t.not(asked.id, before)
  t.equal((await session.say(api.address, { id: before, result: said('late') })).status, 202)
  t.match(await read(client, id), { status: 'input_required', attempts: 1 })
  await session.say(api.address, { id: asked.id, result: said('aisle') })
  t.match(await later.next(), { id: 'later', result: { structuredContent: { seat: 'aisle' } } })
  t.match(await read(client, id), { status: 'succeeded', attempts: 2 })
})

t.test('a job whose asking process was killed is answered over HTTP too, or cancelled', async t => {
  for (const isAnswered of [true, false]) {
    const doomed = await startApi()
    const session = await rawSession(doomed.address, testKeys.admin, { elicitation: {} })
    await (await session.call(doomed.address, 'book')).next()
    await doomed.stop('SIGKILL')
    const { body: { jobs: [job] } } = await client.request<{ jobs: JobView[] }>('/v1/jobs?status=input_required&tool=book')
    const id = job?.id ?? ''
    if (isAnswered) await client.request(`/v1/jobs/${id}/answer`, { body: { answer: { seat: 'window' }, number: 1 } })
    else await client.request(`/v1/jobs/${id}/cancel`, { method: 'POST' })
    t.match(await reach(client, id, 'succeeded', 'cancelled'), isAnswered ? { status: 'succeeded', attempts: 2 } : { status: 'cancelled', attempts: 1 })
  }
})
