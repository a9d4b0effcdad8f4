import t from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { cancel, submit } from '../jobs/submission.ts'
import { injectService } from '../support/injected.ts'
import { monitorRedis } from '../support/redis-monitor.ts'

const service = await injectService(t, { files: programs, tools: entries })
const { client } = service

t.test('calls that wait for the same job look at it together when it ends', async t => {
  const { id } = await submit(client, { type: 'agentcli.echo', delay_ms: 600_000 })
  const record = `toolyard:{default}:${id}`
  let looks = 0
  await monitorRedis(t, service.redis.socket, ([command, key]) => { if (command?.toLowerCase() === 'hmget' && key === record) looks++ })
  const call = { name: 'job_result', arguments: { job_id: id, wait_ms: 60_000 } }
  const calls = Array.from({ length: 20 }, (_, at) => ({ call_id: String(at), ...call }))
  const asked = Array.from({ length: 10 }, async () => await client.batch(calls, { wait_ms: 60_000 }))
  // It comes behind them, and its whole wait passes.
  t.match(await client.call('job_result', { job_id: id, wait_ms: 1_000 }, { wait_ms: 1_000 }), { pending: true })
  const before = looks
  await cancel(client, id)
  const results = (await Promise.all(asked)).flatMap(answer => answer.results)
  t.equal(results.filter(({ error }) => error?.code === 'JOB_CANCELLED').length, 200)
  t.ok(looks - before < 50, `${looks - before} looks`)
})
