import t from 'tap'
import { submit, reach } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { startRedisSentinels } from '../support/redis-sentinels.ts'
import { startProcesses } from '../support/service.ts'
import { callUntilServed, roundTools, runJobRound } from './job-round.ts'

t.setTimeout(300_000)
// They wait, and each has a Redis of its own.
t.jobs = 2

void t.test('jobs go through the master that Sentinels name; when it dies its replica takes over, and nothing is lost', { buffered: true }, async t => {
  const { master, replica, env } = await startRedisSentinels(t)
  const service = await startProcesses(t, env, roundTools)
  await runJobRound(t, service)

  const waiting = await submit(service.client, { type: 'agentcli.echo', input: { n: 1 }, delay_ms: 3_000 })
  await master.kill()
  await callUntilServed(t, service, 'default')
  t.match(await replica.client.info('replication'), /role:master/)
  t.match(await reach(service.client, waiting.id, 'succeeded', 'failed'), { status: 'succeeded', result: { n: 1 } })
  t.equal((await service.client.request('/ready')).status, 200)

  await master.start()
  await waitFor('the old master follows the new one', async () => /role:slave/.test(await master.client.info('replication')), 60_000)
  await callUntilServed(t, service, 'c')
})

void t.test('a master that hangs without closing its connections is left for its replica', { buffered: true }, async t => {
  const { master, replica, env } = await startRedisSentinels(t)
  const service = await startProcesses(t, env, roundTools)
  await runJobRound(t, service)

  const waiting = await submit(service.client, { type: 'agentcli.echo', input: { n: 1 }, delay_ms: 3_000 })
  master.signal('SIGSTOP')
  await callUntilServed(t, service, 'default')
  t.match(await replica.client.info('replication'), /role:master/)
  t.match(await reach(service.client, waiting.id, 'succeeded', 'failed'), { status: 'succeeded', result: { n: 1 } })

  master.signal('SIGCONT')
  await callUntilServed(t, service, 'c')
})
