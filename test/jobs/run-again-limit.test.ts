import type { BulkView } from '@toolyard/contract'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { createService } from '../support/service.ts'
import { cancel, reach, submit } from './submission.ts'

const { client } = await createService(t, {
  files: { 'tools/bin/stuck': '#!/bin/sh\n[ -e mended ] || exit 3\nsleep 60\n', 'tools/bin/mends': '#!/bin/sh\ntouch mended\necho 1\n' },
  tools: ['stuck', 'mends'].map(name => ({ name, schema: { type: 'object' }, command: [`./tools/bin/${name}`] })),
  env: { MAX_JOBS_PER_KEY: '3' }
})

async function runAgain (tag: string): Promise<number> {
  const { body: { bulk: { id } } } = await client.request<{ bulk: { id: string } }>('/v1/bulk', { body: { action: 'run_again', filter: { tag } } })
  const bulk = await waitFor('it is done', async () => {
    const { body } = await client.request<{ bulk: BulkView }>(`/v1/bulk/${id}`)
    return body.bulk.state === 'done' ? body.bulk : undefined
  })
  return bulk.changed
}

t.test('jobs that run again count to the limit of their key, beyond which they stay failed', async t => {
  for (let job = 0; job < 3; job++) await reach(client, (await submit(client, { type: 'agentcli.stuck', input: {}, tags: ['again'] })).id, 'failed')
  await reach(client, (await submit(client, { type: 'agentcli.mends', input: {} })).id, 'succeeded')
  const waiting = [await submit(client, { type: 'agentcli.mends', input: {}, delay_ms: 600_000 }), await submit(client, { type: 'agentcli.mends', input: {}, delay_ms: 600_000 })]
  t.equal(await runAgain('again'), 1)
  t.equal(await runAgain('again'), 0, 'there is no room for another one')
  for (const { id } of waiting) await cancel(client, id)
  t.equal(await runAgain('again'), 2)
})
