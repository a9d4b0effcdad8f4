import type { WorkerList } from '@toolyard/contract'
import t from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { list, reach, submit } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { createService } from '../support/service.ts'

const others = ['a', 'b', 'c', 'd', 'e', 'f', 'g']

t.setTimeout(300_000)

void t.test('two places for all queues of a worker: seven queues are served while one is flooded, also after Redis was away; at SIGTERM nothing is lost', async t => {
  const service = await createService(t, { files: programs, tools: entries, aof: true, env: { WORKER_TOTAL_CONCURRENCY: '2', SANDBOX: 'off' } })
  const { client, redis, workers: [worker] } = service
  const flood = async (count: number): Promise<void> => {
    for (let job = 0; job < count; job++) await submit(client, { type: 'agentcli.nap', queue: 'flood', input: { ms: 100 } })
  }
  const waitingFlood = async (): Promise<number> => (await list(client, '?queue=flood&status=queued&limit=100')).jobs.length
  const serveOthers = async (): Promise<void> => {
    const jobs = await Promise.all(others.map(async queue => await submit(client, { type: 'agentcli.nap', queue, input: { ms: 10 } })))
    for (const { id } of jobs) await reach(client, id, 'succeeded')
    t.ok(await waitingFlood() > 0, 'the flood still waits')
  }

  await flood(90)
  await serveOthers()
  // A worker's words of itself are up to a beat old: before the first queue was there it had no places.
  const shown = await waitFor('the worker tells of its places', async () => (
    (await client.request<WorkerList>('/v1/workers')).body.workers.find(({ places }) => (places?.total ?? 0) > 0)?.places
  ) ?? undefined)
  t.match(shown, { total: 2, per_queue: 2, all_queues: 2 })
  t.ok(shown.used <= 2)

  await redis.stop()
  await redis.start()
  await waitFor('the API is ready', async () => (await client.request('/ready')).status === 200)
  await flood(60)
  await serveOthers()

  t.equal(await worker?.stop(), 0)
  const left = await waitFor('nothing runs', async () => (await list(client, '?status=running')).jobs.length === 0 && await waitingFlood())
  t.ok(left > 0, 'what had not begun waits')
  t.same((await list(client, '?status=failed')).jobs, [])
})
