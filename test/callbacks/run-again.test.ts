import t from 'tap'
import { openVisit } from '../dashboard/visitor.ts'
import { reach, submit } from '../jobs/submission.ts'
import { createService } from '../support/service.ts'
import { callbackEnv, startReceiver } from './receiver.ts'

const program = (text: string): string => `#!/bin/sh\n${text}\n`
const receiver = await startReceiver(t)
const service = await createService(t, {
  files: { 'tools/bin/breaks': program('[ -e mended ] && echo \'"done"\' || exit 3'), 'tools/bin/mends': program('touch mended; echo 1'), 'tools/bin/breaks_again': program('rm -f mended; echo 1') },
  tools: ['breaks', 'mends', 'breaks_again'].map(name => ({ name, schema: { type: 'object' }, command: [`./tools/bin/${name}`] })),
  env: callbackEnv
})
const { client } = service

t.test('RC33 a job that an operator runs again has another callback, with an id of its own', async t => {
  const { id } = await submit(client, { type: 'agentcli.breaks', callback_url: `${receiver.url}/again` })
  const [first] = await receiver.at('/again')
  t.match(first?.body, { id, status: 'failed', error: { code: 'TOOL_FAILED' } })
  await client.call('mends')
  const { api } = await openVisit(service.api.address)
  t.equal((await api(`/queues/default/${id}/retry`, 'PUT')).status, 204)
  const [, second] = await receiver.at('/again', 2)
  t.match(second?.body, { id, status: 'succeeded', result: 'done', error: null })
  t.not(second?.headers['x-toolyard-delivery'], first?.headers['x-toolyard-delivery'])
})

t.test('RC35 a job that was given up because of another one can be run again after that one', async t => {
  await client.call('breaks_again')
  const broken = await submit(client, { type: 'agentcli.breaks' })
  const waiting = await submit(client, { type: 'agentcli.mends', depends_on: [broken.id], callback_url: `${receiver.url}/waiting` })
  t.match(await reach(client, waiting.id, 'succeeded', 'failed'), { status: 'failed', error: { code: 'DEPENDENCY_BLOCKED' } })
  const { api } = await openVisit(service.api.address)
  await client.call('mends')
  for (const id of [broken.id, waiting.id]) {
    t.equal((await api(`/queues/default/${id}/retry`, 'PUT')).status, 204)
    t.match(await reach(client, id, 'succeeded', 'failed'), { status: 'succeeded' })
  }
  t.same((await receiver.at('/waiting', 2)).map(({ body }) => [body.status, body.attempts]), [['failed', 0], ['succeeded', 1]])
})
