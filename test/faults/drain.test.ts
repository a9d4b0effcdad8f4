import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { reach, read, submit } from '../jobs/submission.ts'
import { createClient } from '../support/client.ts'
import { waitFor } from '../support/condition.ts'
import { createService, testKeys } from '../support/service.ts'
import { runsOf, stampEntries, stampFiles } from './stamp.ts'

const tools = { files: stampFiles, tools: stampEntries }

t.setTimeout(300_000)

void t.test('fault 29 SIGTERM under load: running calls may finish until the grace time ends, then they are killed and settled; no new job is taken; exit 0', async t => {
  const service = await createService(t, { ...tools, env: { SHUTDOWN_GRACE_SEC: '4', WORKER_CONCURRENCY: '4' } })
  const { client } = service
  const nap = `600.${process.hrtime.bigint()}`
  const send = (type: string, mark: string, sec: string): ReturnType<typeof submit> => submit(client, { type: `agentcli.${type}`, input: { mark, sec } })
  const short = await Promise.all([send('once', 'short-1', '2'), send('once', 'short-2', '2')])
  const [long, longAgain] = [await send('once', 'long', nap), await send('again', 'long-again', nap)]
  await waitFor('all run', () => runsOf(service).size === 4)
  const waiting = await Promise.all(Array.from({ length: 8 }, (_, index) => send('once', `waiting-${index}`, '0')))
  t.equal(await service.workers[0]?.stop('SIGTERM'), 0)
  for (const { id } of short) t.equal((await read(client, id)).status, 'succeeded')
  t.match(await read(client, long.id), { status: 'failed', error: { code: 'WORKER_LOST' } })
  t.equal((await read(client, longAgain.id)).status, 'queued')
  for (const { id } of waiting) t.equal((await read(client, id)).status, 'queued')
  t.equal(runsOf(service).size, 4)
  t.equal(spawnSync('pgrep', ['-f', nap]).status, 1, 'nothing of the killed calls is alive')
  const worker = await service.startWorker()
  for (const { id } of waiting) t.equal((await reach(client, id, 'succeeded', 'failed')).status, 'succeeded')
  await waitFor('the idempotent one runs again', () => runsOf(service).get('long-again') === 2)
  t.equal(runsOf(service).get('long'), 1)
  await worker.stop('SIGTERM')
})

void t.test('a second SIGTERM ends the grace time: running calls are killed and settled at once, exit 0', async t => {
  const service = await createService(t, { ...tools, env: { SHUTDOWN_GRACE_SEC: '120' } })
  const { id } = await submit(service.client, { type: 'agentcli.once', input: { mark: 'second', sec: '600' } })
  await waitFor('it runs', () => runsOf(service).size === 1)
  const [worker] = service.workers
  const stopped = worker?.stop('SIGTERM')
  await delay(1_500)
  t.equal((await read(service.client, id)).status, 'running')
  worker?.child.kill('SIGTERM')
  t.equal(await stopped, 0)
  t.match(await read(service.client, id), { status: 'failed', error: { code: 'WORKER_LOST' } })
})

void t.test('an API waits for no connection that has sent no request: exit 0 long before the grace time ends', async t => {
  const { api } = await createService(t, { workers: 0, env: { SHUTDOWN_GRACE_SEC: '600' } })
  const silent = connect(Number(new URL(api.address).port), '127.0.0.1')
  const begun = connect(Number(new URL(api.address).port), '127.0.0.1', () => { begun.write('GET /health HTTP/1.1\r\nhost: ') })
  for (const socket of [silent, begun]) socket.on('error', () => {})
  // A request that came later was answered: the connections before it are known.
  await Promise.all([once(silent, 'connect'), once(begun, 'connect')])
  t.equal((await fetch(`${api.address}/health`)).status, 200)
  t.equal(await api.stop('SIGTERM'), 0)
})

void t.test('at SIGTERM /ready of an API fails first, while it goes on serving; waiting calls are answered, exit 0', async t => {
  const service = await createService(t, { ...tools, env: { SHUTDOWN_DELAY_SEC: '4' } })
  const { client } = service
  const waiting = client.call('once', { mark: 'waits', sec: '5' })
  await waitFor('it runs', () => runsOf(service).size === 1)
  const stopped = service.api.stop('SIGTERM')
  const red = await waitFor('it is not ready', async () => {
    const answer = await client.request('/ready')
    return answer.status === 503 && answer
  })
  t.match(red.body, { ok: false, checks: { running: { ok: false } } })
  const served = await client.call('once', { mark: 'served' })
  t.equal(served.ok, true, 'who has not seen it yet is served')
  t.match(await waiting, { ok: true })
  t.equal(await stopped, 0)
})

void t.test('an answer as a stream that ends while an API stops keeps no connection open: exit 0', async t => {
  const { api, client, ...service } = await createService(t, { ...tools, env: { SHUTDOWN_GRACE_SEC: '20' } })
  const sent = { calls: [{ call_id: 'c', name: 'once', arguments: { mark: 'streamed', sec: '3' } }] }
  const waiting = client.request('/v1/agent-tools/invoke-batch', { body: sent, headers: { accept: 'text/event-stream' } })
  await waitFor('it runs', () => runsOf(service).size === 1)
  const stopped = api.stop('SIGTERM')
  t.match((await waiting).text, /"ok":true/)
  t.equal(await stopped, 0)
})

void t.test('a batch that waits when the grace time ends is answered as pending', async t => {
  const service = await createService(t, { ...tools, env: { SHUTDOWN_GRACE_SEC: '1' } })
  const waiting = service.client.call('once', { mark: 'pending', sec: '20' })
  await waitFor('it runs', () => runsOf(service).size === 1)
  t.equal(await service.api.stop('SIGTERM'), 0)
  t.match(await waiting, { ok: false, pending: true, error: { code: 'TIMEOUT' } })
  const other = await service.startApi()
  t.ok(await createClient(other.address, testKeys.admin).request('/v1/jobs'))
})

void t.test('an idle worker ends by SIGTERM also while Redis is away: exit 0', async t => {
  const service = await createService(t, { ...tools, env: { SHUTDOWN_GRACE_SEC: '120' } })
  await service.redis.stop()
  t.equal(await service.workers[0]?.stop('SIGTERM'), 0)
})
