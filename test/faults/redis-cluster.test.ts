import t from 'tap'
import { submit, reach } from '../jobs/submission.ts'
import { startRedisCluster } from '../support/redis-cluster.ts'
import { startProcesses } from '../support/service.ts'
import { callUntilServed, roundTools, runJobRound } from './job-round.ts'

t.setTimeout(300_000)

void t.test('jobs go through a Redis Cluster; when a master dies its queues are served again, and nothing is lost', async t => {
  const cluster = await startRedisCluster(t)
  const service = await startProcesses(t, cluster.env, roundTools)
  await runJobRound(t, service)

  const waiting = await submit(service.client, { type: 'agentcli.echo', queue: 'c', input: { n: 1 }, delay_ms: 3_000 })
  const master = await cluster.masterOf('toolyard:{c}:meta')
  await master.kill()
  await callUntilServed(t, service, 'c')
  t.match(await reach(service.client, waiting.id, 'succeeded', 'failed'), { status: 'succeeded', result: { n: 1 } })
  for (const queue of ['default', 'a:b', 'd', 'e']) await callUntilServed(t, service, queue)
  t.equal((await service.client.request('/ready')).status, 200)
})
