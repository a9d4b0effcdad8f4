import { openSandbox } from '@toolyard/executors'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { outputOf } from '../executors/fixture.ts'
import { boxedTools, withoutBox } from '../sandbox/boxed-tools.ts'
import { createService } from '../support/service.ts'

const hostile = join(import.meta.dirname, '../../../samples/hostile')
const skip = await withoutBox()
const kinds = ['link', 'directory', 'fifo', 'file'] as const

t.setTimeout(180_000)

void t.test('fault 15 RC37 files that a tool puts into the workspace block no writer of another worker, and give nobody rights', { skip }, async t => {
  const service = await createService(t, { workers: 2, env: { SANDBOX: 'require', TOOL_MANIFESTS: join(hostile, 'tools.json') } })
  for (const kind of kinds) {
    t.match(await service.client.call('plant', { files: ['file', 'moved'], kind }), { ok: true })
    const begun = performance.now()
    for (const [name, args] of [
      ['data_write_file', { path: 'file', content: kind, create_if_missing: true }],
      ['data_write_file', { path: 'program', content: '#!/bin/sh\nid\n' }],
      ['workspace_move', { from: 'file', to: 'moved', overwrite: true }]
    ] as const) t.match(await service.client.call(name, args), { ok: true }, `${name} beside a planted ${kind}`)
    t.ok(performance.now() - begun < 10_000)
    const workspace = join(service.dir, 'workspace')
    t.equal(statSync(join(workspace, 'program')).mode & 0o7000, 0)
    for (const name of readdirSync(workspace).filter(name => name.startsWith('.toolyard-'))) rmSync(join(workspace, name), { recursive: true })
  }
})

for (const kind of kinds) {
  void t.test(`fault 18 a ${kind} where a canary might write leaves the box as it is when the next worker starts`, { skip }, async t => {
    const tools = await boxedTools(t)
    const given = { files: [], names: [`.toolyard-canary-${process.pid}`], kind }
    const { planted } = outputOf(await tools.run({ program: join(hostile, 'tools/bin/plant.py'), permissions: ['write_files'], arguments: given })) as { planted: number }
    t.ok(planted > 0)
    const again = await openSandbox({ mode: 'auto', env: process.env, workspaceDir: tools.workspace, hidden: [], defaultPermissions: [] })
    t.teardown(() => { again.close() })
    t.same(again.report.findings.filter(({ holds }) => !holds), [])
  })
}
