import { orElse } from '@toolyard/contract/terms'
import type { JobResponse } from '@toolyard/contract'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { JobQueues, QueueDirectory } from '@toolyard/queue'
import t from 'tap'
import type { Cleanup } from '../support/cleanup.ts'
import { cancel, reach, read, submit, type Job } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { hasPython } from '../support/python.ts'
import { createService, type Service } from '../support/service.ts'

const python = `import time
from pathlib import Path
from toolyard import Tool

class Recorder(Tool):
    def execute(self, n, ms=50):
        with Path("trace.txt").open("a") as trace:
            trace.write(f"start {n}\\n")
        time.sleep(ms / 1000)
        with Path("trace.txt").open("a") as trace:
            trace.write(f"end {n}\\n")
        return n
`
const manifest = {
  schema_version: '1.0',
  metadata: { name: 'test', description: 'A bundle of a test' },
  tools: [{ name: 'record', description: 'Records its runs', module: 'recorder', inputs: { n: { type: 'integer', required: true }, ms: { type: 'integer', default: 50 } }, runtime: { concurrency: 'serial' } }]
}
const bundle = { files: { 'bundle/recorder.py': python, 'bundle/manifest.json': JSON.stringify(manifest) }, manifests: ['bundle/manifest.json'] }
const options = { skip: hasPython() ? false : 'python3 is not installed', timeout: 120_000 }

/** A service whose first worker serves the queue `one`, the second one `two`. */
async function start (test: Cleanup): Promise<Service> {
  const service = await createService(test, { ...bundle, workers: 0 })
  for (const queue of ['one', 'two']) service.workers.push(await service.startWorker({ WORKER_QUEUES: queue }))
  return service
}

const record = async ({ client }: Service, queue: string, n: number, rest: { ms?: number, delay?: number } = {}): Promise<string> => (
  (await submit(client, { type: 'pylot.record', queue, input: { n, ...(rest.ms === undefined ? {} : { ms: rest.ms }) }, ...(rest.delay === undefined ? {} : { delay_ms: rest.delay }) })).id
)

function trace ({ dir }: Service): string[] {
  return orElse(() => readFileSync(join(dir, 'workspace/trace.txt'), 'utf8').trim().split('\n'), [])
}

const started = (service: Service, n: number): boolean => trace(service).includes(`start ${n}`)
const turns = (...numbers: number[]): string[] => numbers.flatMap(n => [`start ${n}`, `end ${n}`])

/** Waits until a job is parked: it is among the delayed ones, and a worker has seen it. */
async function parked (service: Service, queue: string, id: string): Promise<void> {
  const redis = await connectTo(t, service.redis)
  await waitFor(`job ${id} is parked`, async () => await redis.zscore(`toolyard:{${queue}}:delayed`, id) !== null)
}

async function succeed ({ client }: Service, ids: readonly string[], withinMs: number): Promise<void> {
  await waitFor('the calls have run', async () => {
    const jobs: Job[] = await Promise.all(ids.map(id => read(client, id)))
    return jobs.every(job => job.status === 'succeeded')
  }, withinMs)
}

t.test('P22 a serial tool goes on when the worker of a call that waits for its turn is stopped, and that call runs when there is a worker again', options, async t => {
  for (const signal of ['SIGKILL', 'SIGSTOP'] as const) {
    const service = await start(t)
    await record(service, 'two', 0, { ms: 1_500 })
    await waitFor('the first call runs', () => started(service, 0))
    const waiting = [await record(service, 'one', 1), await record(service, 'one', 2)]
    for (const id of waiting) await parked(service, 'one', id)
    service.workers[0]?.child.kill(signal)
    const later = [await record(service, 'two', 3), await record(service, 'two', 4), await record(service, 'two', 5)]
    await succeed(service, later, 10_000)
    t.same(trace(service), turns(0, 3, 4, 5), signal)
    if (signal === 'SIGSTOP') service.workers[0]?.child.kill('SIGCONT')
    else await service.startWorker({ WORKER_QUEUES: 'one' })
    await succeed(service, waiting, 10_000)
    t.same(trace(service), turns(0, 3, 4, 5, 1, 2), signal)
  }
})

t.test('P22 a serial tool goes on when the queue of calls that wait for their turn is paused, and they run when it goes on', options, async t => {
  const service = await start(t)
  const redis = await connectTo(t, service.redis)
  const queues = new JobQueues(redis, new QueueDirectory(redis, 64), { ageSec: 3_600, count: 1_000 })
  t.teardown(() => queues.close())
  await record(service, 'two', 0, { ms: 1_000 })
  await waitFor('the first call runs', () => started(service, 0))
  const waiting = await Promise.all([1, 2, 3].map(n => record(service, 'one', n)))
  for (const id of waiting) await parked(service, 'one', id)
  await queues.open('one').pause()
  const later = [await record(service, 'two', 4), await record(service, 'two', 5)]
  await succeed(service, later, 10_000)
  t.same(trace(service), turns(0, 4, 5))
  await queues.open('one').resume()
  await succeed(service, waiting, 10_000)
})

t.test('P22 a serial tool goes on when the worker that runs it stands still', options, async t => {
  const service = await start(t)
  const held = await record(service, 'two', 0, { ms: 30_000 })
  await waitFor('the first call runs', () => started(service, 0))
  const waiting = [await record(service, 'one', 1), await record(service, 'one', 2)]
  for (const id of waiting) await parked(service, 'one', id)
  service.workers[1]?.child.kill('SIGSTOP')
  await succeed(service, waiting, 10_000)
  service.workers[1]?.child.kill('SIGCONT')
  t.match(await reach(service.client, held, 'failed'), { error: { code: 'WORKER_LOST' } }, 'the call that held it up is lost')
})

t.test('P22 calls of a serial tool that are due later block no others, and those that are due run in the order of arrival', options, async t => {
  const service = await start(t)
  await Promise.all(Array.from({ length: 60 }, (_, n) => record(service, n % 2 === 0 ? 'one' : 'two', 1_000 + n, { delay: 60_000 })))
  const first = await record(service, 'one', 0, { ms: 500 })
  await waitFor('the first call runs', () => started(service, 0))
  const ids = [first]
  for (let n = 1; n <= 12; n++) ids.push(await record(service, n % 2 === 0 ? 'one' : 'two', n, { ms: 100 }))
  const startedAt = performance.now()
  await succeed(service, ids, 15_000)
  t.comment(`12 calls of 100 ms took ${Math.round(performance.now() - startedAt)} ms`)
  t.same(trace(service), turns(...Array.from({ length: 13 }, (_, n) => n)))
})

t.test('P22 a call that is cancelled while it waits for its turn blocks no others', options, async t => {
  const service = await start(t)
  await record(service, 'one', 0, { ms: 1_000 })
  await waitFor('the first call runs', () => started(service, 0))
  const [gone, next] = [await record(service, 'two', 1), await record(service, 'two', 2)]
  await parked(service, 'two', gone)
  await cancel(service.client, gone)
  await succeed(service, [next], 5_000)
  t.same(trace(service), turns(0, 2))
})

t.test('P22, X17 a serial tool runs one call at a time over all workers and queues, in the order of arrival', options, async t => {
  const service = await createService(t, { ...bundle, workers: 2 })
  const first = await service.client.batch(Array.from({ length: 10 }, (_, n) => ({ call_id: `${n}`, name: 'record', arguments: { n } })), { mode: 'async' })
  const second = await service.client.batch(Array.from({ length: 6 }, (_, n) => ({ call_id: `${n}`, name: 'record', arguments: { n: n + 10 } })), { wait_ms: 30_000 })
  t.same(second.results.map(result => result.output), [10, 11, 12, 13, 14, 15])
  for (const { job_id: id } of first.results) t.equal((await service.client.request<JobResponse>(`/v1/jobs/${id}`)).body.job.status, 'succeeded')
  t.same(trace(service), turns(...Array.from({ length: 16 }, (_, n) => n)))
})

t.test('P22 waiting calls of a serial tool take no slot of a worker', options, async t => {
  const service = await createService(t, { ...bundle, env: { WORKER_CONCURRENCY: '2' } })
  await service.client.batch(Array.from({ length: 6 }, (_, n) => ({ call_id: `${n}`, name: 'record', arguments: { n, ms: 1_500 } })), { mode: 'async' })
  await waitFor('the first call runs', () => trace(service).length > 0)
  t.equal((await service.client.call('data_file_read', { path: 'README.md' }, { wait_ms: 2_000 })).ok, true)
})

t.test('P22 calls that waited when their tool was made serial take turns with later ones', options, async t => {
  const flowing = JSON.stringify({ ...manifest, tools: manifest.tools.map(tool => ({ ...tool, runtime: {} })) })
  const service = await createService(t, { ...bundle, files: { ...bundle.files, 'bundle/manifest.json': flowing }, workers: 0 })
  const ids = await Promise.all([0, 1, 2].map(n => record(service, 'one', n, { ms: 300 })))
  writeFileSync(join(service.dir, 'bundle/manifest.json'), JSON.stringify(manifest))
  await waitFor('the API has read it', async () => {
    const { body } = await service.client.request<{ tool: { serial: boolean } }>('/v1/registry/record')
    return body.tool.serial
  })
  ids.push(await record(service, 'two', 3), await record(service, 'two', 4))
  for (let count = 0; count < 2; count++) service.workers.push(await service.startWorker())
  await succeed(service, ids, 15_000)
  t.same(trace(service).map(line => line.split(' ')[0]), ids.flatMap(() => ['start', 'end']))
})

t.test('P22 the death of a worker frees a serial tool', options, async t => {
  const service = await createService(t, bundle)
  const { results: [lost, next] } = await service.client.batch([
    { call_id: 'lost', name: 'record', arguments: { n: 1, ms: 30_000 } }, { call_id: 'next', name: 'record', arguments: { n: 2 } }
  ], { mode: 'async' })
  await waitFor('the first call runs', () => trace(service).length > 0)
  await service.workers[0]?.stop('SIGKILL')
  await service.startWorker()
  const statusOf = async (id: string | undefined): Promise<string> => (await service.client.request<JobResponse>(`/v1/jobs/${id}`)).body.job.status
  await waitFor('the next call has run', async () => await statusOf(next?.job_id) === 'succeeded')
  // The tool may be free a moment before the lost call is looked for.
  await waitFor('the lost call has failed', async () => await statusOf(lost?.job_id) === 'failed')
  t.equal(await statusOf(next?.job_id), 'succeeded')
})
