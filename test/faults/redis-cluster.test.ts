import t from 'tap'
import { submit, reach } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { startRedisCluster } from '../support/redis-cluster.ts'
import type { RedisProcess } from '../support/redis-process.ts'
import { startProcesses } from '../support/service.ts'
import { callUntilServed, roundTools, runJobRound } from './job-round.ts'

t.setTimeout(300_000)

const losses = {
  'jobs go through a Redis Cluster; when a master dies its queues are served again, and nothing is lost': async (master: RedisProcess): Promise<void> => { await master.kill() },
  'a master of a cluster that hangs is left for its replica, and nothing is lost': async (master: RedisProcess): Promise<void> => { master.signal('SIGSTOP') }
}
for (const [title, lose] of Object.entries(losses)) {
  void t.test(title, async t => {
    const cluster = await startRedisCluster(t)
    const service = await startProcesses(t, cluster.env, roundTools)
    await runJobRound(t, service)

    const waiting = await submit(service.client, { type: 'agentcli.echo', queue: 'c', input: { n: 1 }, delay_ms: 3_000 })
    await lose(await cluster.masterOf('toolyard:{c}:meta'))
    await callUntilServed(t, service, 'c')
    t.match(await reach(service.client, waiting.id, 'succeeded', 'failed'), { status: 'succeeded', result: { n: 1 } })
    for (const queue of ['default', 'a:b', 'd', 'e']) await callUntilServed(t, service, queue)
    t.equal((await service.client.request('/ready')).status, 200)
  })
}

void t.test('calls are served while the slot of their queue is moved to another master', async t => {
  const cluster = await startRedisCluster(t)
  const service = await startProcesses(t, cluster.env, roundTools)
  await callUntilServed(t, service, 'm')
  const from = await cluster.masterOf('toolyard:{m}:meta')
  // More jobs than there are places: all keys of a queue that there can be are there.
  const naps = await Promise.all(Array.from({ length: 12 }, () => submit(service.client, { type: 'agentcli.nap', queue: 'm', input: { ms: 1_500 } })))
  await waitFor('some of them run', async () => await from.client.llen('toolyard:{m}:active') > 0)
  const to = cluster.masters.find(master => master !== from)
  const slot = String(await from.client.call('CLUSTER', 'KEYSLOT', '{m}'))
  const [fromId, toId] = [await from.client.call('CLUSTER', 'MYID') as string, await to?.client.call('CLUSTER', 'MYID') as string]
  await to?.client.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId)
  await from.client.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId)
  const calls = Array.from({ length: 10 }, (_, n) => service.client.batch([{ call_id: 'a', name: 'echo', arguments: { n } }], { queue: 'm' }))
  await waitFor('something is put off', async () => /errorstat_TRYAGAIN/.test(await from.client.info('errorstats')))
  for (let keys = ['']; keys.length > 0;) {
    keys = await from.client.call('CLUSTER', 'GETKEYSINSLOT', slot, '20') as string[]
    if (keys.length > 0) await from.client.call('MIGRATE', '127.0.0.1', String(to?.port), '', '0', '5000', 'KEYS', ...keys)
  }
  for (const node of [to, from, ...cluster.masters]) await node?.client.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId)
  for (const [n, { results }] of (await Promise.all(calls)).entries()) t.match(results, [{ ok: true, output: { n } }])
  for (const { id } of naps) t.match(await reach(service.client, id, 'succeeded', 'failed'), { status: 'succeeded', result: { slept: 1_500 } })
})
