import type { JobResponse } from '@toolyard/contract'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { hasPython } from '../support/python.ts'
import { createService } from '../support/service.ts'

const python = `import time
from pathlib import Path
from toolyard import Tool

class Recorder(Tool):
    def execute(self, n, ms=60):
        with Path("trace.txt").open("a") as trace:
            trace.write(f"start {n}\\n")
        time.sleep(ms / 1000)
        with Path("trace.txt").open("a") as trace:
            trace.write(f"end {n}\\n")
        return n
`
const inputs = { n: { type: 'integer', required: true }, ms: { type: 'integer', default: 60 } }
const manifest = {
  schema_version: '1.0',
  metadata: { name: 'test', description: 'A bundle of a test' },
  tools: [{ name: 'record', description: 'Records its runs', module: 'recorder', inputs, runtime: { concurrency: 'serial' } }]
}
const files = { 'bundle/recorder.py': python, 'bundle/manifest.json': JSON.stringify(manifest) }
const options = { skip: hasPython() ? false : 'python3 is not installed' }

t.test('P22, X17 a serial tool runs one call at a time over all workers and queues, in the order of arrival', options, async t => {
  const service = await createService(t, { files, manifests: ['bundle/manifest.json'], workers: 2 })
  const first = await service.client.batch(Array.from({ length: 10 }, (_, n) => ({ call_id: `${n}`, name: 'record', arguments: { n } })), { mode: 'async' })
  const second = await service.client.batch(Array.from({ length: 6 }, (_, n) => ({ call_id: `${n}`, name: 'record', arguments: { n: n + 10 } })), { wait_ms: 30_000 })
  t.same(second.results.map(result => result.output), [10, 11, 12, 13, 14, 15])
  for (const { job_id: id } of first.results) t.equal((await service.client.request<JobResponse>(`/v1/jobs/${id}`)).body.job.status, 'succeeded')
  const trace = (await readFile(join(service.dir, 'workspace/trace.txt'), 'utf8')).trim().split('\n')
  t.same(trace, Array.from({ length: 16 }, (_, n) => [`start ${n}`, `end ${n}`]).flat())
})

t.test('P22 waiting calls of a serial tool take no slot of a worker', options, async t => {
  const service = await createService(t, { files, manifests: ['bundle/manifest.json'], env: { WORKER_CONCURRENCY: '2' } })
  await service.client.batch(Array.from({ length: 6 }, (_, n) => ({ call_id: `${n}`, name: 'record', arguments: { n, ms: 1_500 } })), { mode: 'async' })
  await waitFor('the first call runs', async () => (await readFile(join(service.dir, 'workspace/trace.txt'), 'utf8').catch(() => '')) !== '')
  t.equal((await service.client.call('data_file_read', { path: 'README.md' }, { wait_ms: 2_000 })).ok, true)
})

t.test('P22 the death of a worker frees a serial tool', options, async t => {
  const service = await createService(t, { files, manifests: ['bundle/manifest.json'] })
  const { results: [lost, next] } = await service.client.batch([
    { call_id: 'lost', name: 'record', arguments: { n: 1, ms: 30_000 } }, { call_id: 'next', name: 'record', arguments: { n: 2 } }
  ], { mode: 'async' })
  await waitFor('the first call runs', async () => (await readFile(join(service.dir, 'workspace/trace.txt'), 'utf8').catch(() => '')) !== '')
  await service.workers[0]?.stop('SIGKILL')
  await service.startWorker()
  const statusOf = async (id: string | undefined): Promise<string> => (await service.client.request<JobResponse>(`/v1/jobs/${id}`)).body.job.status
  await waitFor('the next call has run', async () => await statusOf(next?.job_id) === 'succeeded')
  // The tool may be free a moment before the lost call is looked for.
  await waitFor('the lost call has failed', async () => await statusOf(lost?.job_id) === 'failed')
  t.equal(await statusOf(next?.job_id), 'succeeded')
})
