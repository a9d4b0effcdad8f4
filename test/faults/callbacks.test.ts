import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openCallbacksKey } from '@toolyard/store'
import t from 'tap'
import { callbackEnv, startReceiver } from '../callbacks/receiver.ts'
import { entries, programs } from '../e2e/tools.ts'
import { reach, submit } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { plainRedis } from '../support/connection.ts'
import { createService } from '../support/service.ts'

const receiver = await startReceiver(t, { '/hanging': [0, 204], '/stopping': [0, 204] })
const service = await createService(t, { files: programs, tools: entries, env: callbackEnv })
const redis = plainRedis(t, service.redis)

t.test('RC33, fault 21 a job whose worker was killed has a callback with WORKER_LOST', async t => {
  const [worker] = service.workers
  const job = await submit(service.client, { type: 'agentcli.nap', input: { ms: 19_000, mark: 'lost-runs' }, callback_url: `${receiver.url}/lost` })
  await waitFor('the tool runs', () => existsSync(join(service.dir, 'workspace/lost-runs')))
  t.equal(await redis.scard(openCallbacksKey), 1)
  // The tool runs for less time than a worker may take to start.
  const killed = worker?.stop('SIGKILL')
  service.workers.push(await service.startWorker())
  await killed
  const [callback] = await receiver.at('/lost')
  const done = await reach(service.client, job.id, 'failed')
  t.match(callback?.body, { id: job.id, status: 'failed', attempts: 1, result: null, error: { code: 'WORKER_LOST', at: done.updated_at }, updated_at: done.updated_at })
})

t.test('fault 23 a job that was given up because it lost too many workers has its callback', async t => {
  const job = await submit(service.client, { type: 'agentcli.echo', delay_ms: 60_000, queue: 'deadly', callback_url: `${receiver.url}/deadly` })
  // As after a third worker that died of it.
  const stem = 'toolyard:{deadly}:'
  await redis.multi().hset(stem + job.id, { defa: 'job stalled more than allowable limit' }).exec()
  await redis.multi().zrem(`${stem}delayed`, job.id).lpush(`${stem}wait`, job.id).zadd(`${stem}marker`, 0, '0').exec()
  const [callback] = await receiver.at('/deadly')
  t.match(callback?.body, { id: job.id, status: 'failed', error: { code: 'WORKER_LOST', message: 'The job was given up: its worker was lost in each of 3 runs' } })
})

t.test('RC33, fault 45 when a worker is killed while it sends a callback, another worker sends it with the same id', async t => {
  await submit(service.client, { type: 'agentcli.echo', callback_url: `${receiver.url}/hanging` })
  await receiver.at('/hanging')
  const worker = service.workers.pop()
  service.workers.push(await service.startWorker())
  await worker?.stop('SIGKILL')
  const callbacks = await receiver.at('/hanging', 2)
  t.equal(new Set(callbacks.map(({ headers }) => headers['x-toolyard-delivery'])).size, 1)
  t.equal(new Set(callbacks.map(({ text }) => text)).size, 1)
})

t.test('RC33, fault 29 a worker that stops while it sends a callback leaves it to another one', async t => {
  await submit(service.client, { type: 'agentcli.echo', callback_url: `${receiver.url}/stopping` })
  await receiver.at('/stopping')
  const worker = service.workers.pop()
  service.workers.push(await service.startWorker({ SHUTDOWN_GRACE_SEC: '1' }))
  t.equal(await worker?.stop('SIGTERM'), 0)
  const callbacks = await receiver.at('/stopping', 2)
  t.equal(new Set(callbacks.map(({ headers }) => headers['x-toolyard-delivery'])).size, 1)
})

t.test('RC33 callbacks wait while no worker runs, and are sent when one starts', async t => {
  const job = await submit(service.client, { type: 'agentcli.echo', delay_ms: 60_000, callback_url: `${receiver.url}/later` })
  await service.workers.pop()?.stop()
  t.equal((await service.client.request(`/v1/jobs/${job.id}/cancel`, { method: 'POST' })).status, 200)
  t.equal(receiver.received.filter(({ path }) => path === '/later').length, 0)
  await service.startWorker()
  const [callback] = await receiver.at('/later')
  t.match(callback?.body, { id: job.id, status: 'cancelled' })
})
