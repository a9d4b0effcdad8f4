import t from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { createService } from '../support/service.ts'
import { list, reach, submit } from './submission.ts'

t.setTimeout(120_000)

void t.test('two queues share the only place of a worker: jobs of one are served while the other still waits, and one runs at a time', async t => {
  const { client } = await createService(t, { files: programs, tools: entries, env: { WORKER_TOTAL_CONCURRENCY: '1', SANDBOX: 'off' } })
  for (let job = 0; job < 60; job++) await submit(client, { type: 'agentcli.nap', queue: 'flood', input: { ms: 100 } })
  for (let turn = 0; turn < 3; turn++) {
    const { id } = await submit(client, { type: 'agentcli.nap', queue: 'other', input: { ms: 10 } })
    const running = await list(client, '?status=running')
    t.ok(running.jobs.length <= 1, 'no more run than there are places')
    await reach(client, id, 'succeeded')
  }
  t.ok((await list(client, '?queue=flood&status=queued&limit=100')).jobs.length > 0, 'the flood still waits')
})
