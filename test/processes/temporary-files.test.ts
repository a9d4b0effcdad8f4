import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { createService } from '../support/service.ts'

t.test('a worker whose temporary directory was removed takes no more calls and stops, and the next one runs them', async t => {
  const dir = mkdtempSync(join(tmpdir(), 'toolyard-temporary-'))
  t.teardown(() => { rmSync(dir, { recursive: true, force: true }) })
  const tool = { name: 'run', schema: { type: 'object' }, command: ['./tools/bin/run'] }
  const service = await createService(t, { tools: [tool], files: { 'tools/bin/run': '#!/bin/sh\ncat\n' }, env: { TMPDIR: dir } })
  const [worker] = service.workers
  t.match(await service.client.call('run', { a: 1 }), { ok: true })
  const own = readdirSync(dir).find(name => name.startsWith(`toolyard-worker-${worker?.child.pid}-`)) ?? ''
  rmSync(join(dir, own), { recursive: true, force: true })
  await waitFor('it ends', () => worker?.child.exitCode === 0)
  t.match(await worker?.output(), /the temporary directory of the worker was removed/)
  await service.startWorker()
  t.match(await service.client.call('run', { a: 2 }), { ok: true, output: { a: 2 } })
})
