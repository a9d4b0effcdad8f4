import { loadRegistry } from '@toolyard/manifests'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { leavesLoopFree } from './longest-turn.ts'

t.test('promise 10: a new version of 12,000 tools, each of which has a fault, holds up nothing while the old ones are kept', async t => {
  const dir = mkdtempSync(join(tmpdir(), 'toolyard-broken-'))
  t.teardown(() => { rmSync(dir, { recursive: true }) })
  const file = join(dir, 'tools.json')
  const write = (schema: object): void => {
    writeFileSync(file, JSON.stringify({ tools: Array.from({ length: 12_000 }, (_, at) => ({ name: `t${at}`, command: ['/bin/true'], schema })) }))
  }
  write({})
  const before = await loadRegistry({ manifests: [file], builtins: false })
  write({ type: 'none' })
  const next = await before.reload()
  await leavesLoopFree(t, 'old tools', async () => {
    const { registry, errors } = await next.keeping(before)
    t.ok(errors.length > 0)
    t.ok(registry.get('t0'))
  })
})
