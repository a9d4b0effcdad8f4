import t from 'tap'
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

/** An operator has the failed jobs of a tool run again. */
async function runAgain (tool: string): Promise<void> {
  const { status } = await client.request('/v1/bulk', { body: { action: 'run_again', filter: { status: 'failed', tool } } })
  t.equal(status, 202)
}

t.test('RC33 a job that an operator runs again has another callback, with an id of its own', async t => {
  const { id } = await submit(client, { type: 'agentcli.breaks', callback_url: `${receiver.url}/again` })
  const [first] = await receiver.at('/again')
  t.match(first?.body, { id, status: 'failed', error: { code: 'TOOL_FAILED' } })
  await client.call('mends')
  await runAgain('breaks')
  const [, second] = await receiver.at('/again', 2)
  t.match(second?.body, { id, status: 'succeeded', result: 'done', error: null })
  t.not(second?.headers['x-toolyard-delivery'], first?.headers['x-toolyard-delivery'])
})

t.test('RC35 a job that was given up because of another one can be run again after that one', async t => {
  await client.call('breaks_again')
  const broken = await submit(client, { type: 'agentcli.breaks' })
  const waiting = await submit(client, { type: 'agentcli.mends', depends_on: [broken.id], callback_url: `${receiver.url}/waiting` })
  t.match(await reach(client, waiting.id, 'succeeded', 'failed'), { status: 'failed', error: { code: 'DEPENDENCY_BLOCKED' } })
  await client.call('mends')
  await runAgain('breaks')
  await reach(client, broken.id, 'succeeded')
  await runAgain('mends')
  await reach(client, waiting.id, 'succeeded')
  t.same((await receiver.at('/waiting', 2)).map(({ body }) => [body.status, body.attempts]), [['failed', 0], ['succeeded', 1]])
})
