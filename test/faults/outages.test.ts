import type { JobResponse } from '@toolyard/contract'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { createService } from '../support/service.ts'
import { entries, programs } from '../e2e/tools.ts'

t.test('a worker is killed and started again: the next batch is served', async t => {
  const service = await createService(t, { files: programs, tools: entries })
  t.equal((await service.client.call('echo')).ok, true)
  await service.workers[0]?.stop('SIGKILL')
  t.equal((await service.client.call('echo', {}, { wait_ms: 300 })).pending, true)
  await service.startWorker()
  t.equal((await service.client.call('echo')).ok, true)
})

t.test('the job of a killed worker fails with WORKER_LOST and is not run again', async t => {
  const service = await createService(t, { files: programs, tools: entries })
  const { results: [result] } = await service.client.batch([{ call_id: 'a', name: 'nap', arguments: { ms: 15_000, mark: 'lost-runs' } }], { mode: 'async' })
  const job = async (): Promise<JobResponse['job']> => (await service.client.request<JobResponse>(`/v1/jobs/${result?.job_id}`)).body.job
  await waitFor('the tool runs', () => existsSync(join(service.dir, 'workspace/lost-runs')))
  await service.workers[0]?.stop('SIGKILL')
  await service.startWorker()
  await waitFor('the job has failed', async () => (await job()).status === 'failed')
  t.equal((await job()).error?.code, 'WORKER_LOST')
})

t.test('Redis is stopped: 503 within 2 s; it is back: the API serves again by itself', async t => {
  const service = await createService(t, { files: programs, tools: entries })
  t.equal((await service.client.call('echo')).ok, true)
  await service.redis.stop()
  const body = { calls: [{ call_id: 'a', name: 'echo' }] }
  const times: number[] = []
  for (let round = 0; round < 3; round++) {
    const startedAt = performance.now()
    const answer = await service.client.request('/v1/agent-tools/invoke-batch', { body })
    times.push(performance.now() - startedAt)
    t.equal(answer.status, 503)
    t.match(answer.body, { ok: false, error: { code: 'UNAVAILABLE' } })
  }
  t.ok(Math.max(...times) < 2_000, `each within 2 s: ${times.join()}`)
  t.equal((await service.client.request('/ready')).status, 503)
  t.equal((await service.client.request('/health')).status, 200)
  t.equal((await service.client.request('/v1/agent-tools')).status, 200, 'the list needs no Redis')
  t.equal((await service.client.call('no_such_tool')).error?.code, 'UNKNOWN_TOOL', 'nor do calls that fail without a job')
  await service.redis.start()
  await waitFor('the API is ready', async () => (await service.client.request('/ready')).status === 200)
  t.equal((await service.client.call('echo')).ok, true)
})

t.test('Redis hangs: 503 within 2 s', async t => {
  const service = await createService(t, { files: programs, tools: entries })
  t.equal((await service.client.call('echo')).ok, true)
  process.kill(service.redis.pid(), 'SIGSTOP')
  try {
    const times: number[] = []
    for (let round = 0; round < 3; round++) {
      const startedAt = performance.now()
      const answer = await service.client.request('/v1/agent-tools/invoke-batch', { body: { calls: [{ call_id: 'a', name: 'echo' }] } })
      times.push(performance.now() - startedAt)
      t.equal(answer.status, 503)
    }
    t.ok(Math.max(...times) < 2_000, `each within 2 s: ${times.join()}`)
  } finally {
    process.kill(service.redis.pid(), 'SIGCONT')
  }
  await waitFor('the API serves again', async () => (await service.client.request('/v1/agent-tools/invoke-batch', { body: { calls: [{ call_id: 'a', name: 'echo' }] } })).status === 200)
})

t.test('SIGTERM: a waiting batch is answered, then API and worker exit with 0', async t => {
  const service = await createService(t, { files: programs, tools: entries })
  const waiting = service.client.call('nap', { ms: 800, mark: 'started' })
  await waitFor('the tool runs', () => existsSync(join(service.dir, 'workspace/started')))
  const stopped = Promise.all([service.api.stop(), service.workers[0]?.stop()])
  t.same((await waiting).output, { slept: 800 })
  t.same(await stopped, [0, 0])
})
