import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { cancel, list, reach, submit } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { plainRedis } from '../support/connection.ts'
import { createService } from '../support/service.ts'
import { runsOf, stampEntries, stampFiles } from './stamp.ts'

/** Longer than the lock of a job. */
const stallMs = 5_000

t.setTimeout(300_000)
// Those that bound no time, and have a Redis of their own each.
t.jobs = 3

void t.test('fault 20 the job of a killed worker runs elsewhere within 5 s when its tool is idempotent', async t => {
  const service = await createService(t, { files: stampFiles, tools: stampEntries })
  const { id } = await submit(service.client, { type: 'agentcli.again', input: { mark: 'a', sec: '55' } })
  await waitFor('it runs', () => runsOf(service).get('a') === 1)
  await service.startWorker()
  await service.workers[0]?.stop('SIGKILL')
  const killedAt = performance.now()
  const took = await waitFor('it runs again', () => runsOf(service).get('a') === 2 && performance.now() - killedAt)
  t.ok(took < 5_000, `taken up after ${took} ms`)
  t.equal((await cancel(service.client, id)).body.job.status, 'cancelled')
})

for (const others of [0, 1]) {
  void t.test(`fault 20 the jobs of a killed worker end, or wait again, within 5 s where ${others === 0 ? 'no worker is left' : 'the only other one serves other queues'}`, async t => {
    const service = await createService(t, { files: stampFiles, tools: stampEntries, workers: 0 })
    const worker = await service.startWorker()
    if (others === 1) await service.startWorker({ WORKER_QUEUES: 'other' })
    const { id } = await submit(service.client, { type: 'agentcli.again', input: { mark: 'a', sec: '55' } })
    const answer = service.client.batch([{ call_id: 'o', name: 'once', arguments: { mark: 'o', sec: '55' } }], { wait_ms: 60_000 })
    await waitFor('both run', () => runsOf(service).size === 2)
    const killed = worker.stop('SIGKILL')
    const killedAt = performance.now()
    t.match(await answer, { results: [{ ok: false, error: { code: 'WORKER_LOST', message: /is not run again/ } }] })
    t.ok(performance.now() - killedAt < 5_000, `answered after ${performance.now() - killedAt} ms`)
    const took = await waitFor('it waits', async () => (await service.client.request<{ job: { status: string } }>(`/v1/jobs/${id}`)).body.job.status === 'queued' && performance.now() - killedAt)
    t.ok(took < 5_200, `queued after ${took} ms`)
    await killed
    t.match((await list(service.client, '?type=agentcli.once')).jobs, [{ status: 'failed', attempts: 1 }])
    await service.startWorker()
    await waitFor('it runs again', () => runsOf(service).get('a') === 2)
    t.equal(runsOf(service).get('o'), 1)
    t.equal((await cancel(service.client, id)).body.job.status, 'cancelled')
  })
}

void t.test('fault 22 Redis answers nobody for 3 s: no run is lost, and none is repeated', async t => {
  const service = await createService(t, { files: stampFiles, tools: stampEntries, workers: 2 })
  const redis = plainRedis(t, service.redis)
  for (const round of [1, 2]) {
    const jobs = await Promise.all(['once', 'again'].flatMap(tool => ['4', '6'].map(sec => (
      submit(service.client, { type: `agentcli.${tool}`, input: { mark: `${tool}-${sec}-${round}`, sec } })
    ))))
    await waitFor('all run', () => runsOf(service).size === 4 * round)
    await redis.call('CLIENT', 'PAUSE', '3000', 'ALL')
    // It is answered when the silence is over.
    await redis.ping()
    for (const { id } of jobs) t.match(await reach(service.client, id, 'succeeded', 'failed'), { status: 'succeeded', attempts: 1 })
    t.same([...runsOf(service).values()], Array.from({ length: 4 * round }, () => 1))
  }
})

void t.test('fault 22 Redis stalls for 5 s: a tool that is not idempotent runs once, and its job has one end', { buffered: true }, async t => {
  const service = await createService(t, { files: stampFiles, tools: stampEntries, workers: 2 })
  const jobs = await Promise.all(['1', '3', '8'].map(sec => submit(service.client, { type: 'agentcli.once', input: { mark: `redis-${sec}`, sec } })))
  await waitFor('all run', () => runsOf(service).size === 3)
  process.kill(service.redis.pid(), 'SIGSTOP')
  await delay(stallMs)
  process.kill(service.redis.pid(), 'SIGCONT')
  // Until it has its connections again, the API answers 503.
  await waitFor('jobs can be read', async () => (await service.client.request(`/v1/jobs/${jobs[0]?.id}`)).status === 200)
  for (const { id } of jobs) {
    const end = await reach(service.client, id, 'succeeded', 'failed')
    if (end.status === 'failed') t.equal(end.error?.code, 'WORKER_LOST')
  }
  await delay(2_000)
  t.same([...runsOf(service).values()], [1, 1, 1])
})

void t.test('fault 22 the event loop of a worker stalls for 5 s: no other worker runs its job', { buffered: true }, async t => {
  const service = await createService(t, { files: stampFiles, tools: stampEntries })
  const jobs = await Promise.all(['a', 'b'].map(name => submit(service.client, { type: 'agentcli.once', input: { mark: `loop-${name}`, sec: '55' } })))
  await waitFor('both run', () => runsOf(service).size === 2)
  await service.startWorker()
  const pid = service.workers[0]?.child.pid ?? 0
  process.kill(pid, 'SIGSTOP')
  await delay(stallMs)
  process.kill(pid, 'SIGCONT')
  for (const { id } of jobs) t.match(await reach(service.client, id, 'succeeded', 'failed'), { status: 'failed', error: { code: 'WORKER_LOST' } })
  await delay(2_000)
  t.same([...runsOf(service).values()], [1, 1])
  t.equal((await service.client.call('once', { mark: 'later' })).ok, true)
})

void t.test('fault 23 a job that kills its workers fails after the third one, and the pool goes on', { buffered: true }, async t => {
  const service = await createService(t, { files: stampFiles, tools: stampEntries, workers: 0 })
  const { id } = await submit(service.client, { type: 'agentcli.again', input: { mark: 'killer', sec: '60' } })
  for (const nth of [1, 2, 3]) {
    const worker = await service.startWorker()
    await waitFor(`run ${nth}`, () => runsOf(service).get('killer') === nth)
    await worker.stop('SIGKILL')
  }
  await service.startWorker()
  const end = { status: 'failed', attempts: 3, error: { code: 'WORKER_LOST', message: 'The job was given up: its worker was lost in each of 3 runs' } }
  t.match(await reach(service.client, id, 'succeeded', 'failed'), end)
  t.match((await list(service.client, '?type=agentcli.again')).jobs, [end])
  t.equal(runsOf(service).get('killer'), 3)
  t.equal((await service.client.call('once', { mark: 'healthy' })).ok, true)
})
