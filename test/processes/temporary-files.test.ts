import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { createService } from '../support/service.ts'

const skip = process.getuid?.() !== 0 && 'only root gives a directory to another user'

t.test('a worker removes what a killed one of its own user has left, and nothing of another user', { skip }, async t => {
  const dir = mkdtempSync(join(tmpdir(), 'toolyard-temporary-'))
  t.teardown(() => { rmSync(dir, { recursive: true, force: true }) })
  const [own, others] = ['toolyard-worker-1-1-own', 'toolyard-worker-1-1-others']
  for (const name of [own, others]) mkdirSync(join(dir, name, 'tools'), { recursive: true })
  chownSync(join(dir, others), 65_534, 65_534)
  await createService(t, { env: { TMPDIR: dir } })
  t.strictSame(readdirSync(dir).filter(name => name.startsWith('toolyard-worker-1-1-')), [others])
})

t.test('a worker whose temporary directory was removed takes no more calls and stops, and the next one runs them', async t => {
  const dir = mkdtempSync(join(tmpdir(), 'toolyard-temporary-'))
  t.teardown(() => { rmSync(dir, { recursive: true, force: true }) })
  const tool = { name: 'run', schema: { type: 'object' }, command: ['./tools/bin/run'] }
  const service = await createService(t, { tools: [tool], files: { 'tools/bin/run': '#!/bin/sh\ncat\n' }, env: { TMPDIR: dir } })
  const [worker] = service.workers
  t.match(await service.client.call('run', { a: 1 }), { ok: true })
  const own = readdirSync(dir).find(name => name.startsWith(`toolyard-worker-${worker?.child.pid}-`)) ?? ''
  // A box may be made ahead just now, with pipes that come in between.
  rmSync(join(dir, own), { recursive: true, force: true, maxRetries: 10, retryDelay: 20 })
  await waitFor('it ends', () => worker?.child.exitCode === 0)
  t.match(await worker?.output(), /the temporary directory of the worker was removed/)
  await service.startWorker()
  t.match(await service.client.call('run', { a: 2 }), { ok: true, output: { a: 2 } })
})
