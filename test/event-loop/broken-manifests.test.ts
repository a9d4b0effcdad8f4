import { loadRegistry } from '@toolyard/manifests'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { processorMs } from '../support/processor-time.ts'
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

t.test('names that stand twice in a manifest are found by their entry: thousands of them cost no more than other faults', async t => {
  const dir = mkdtempSync(join(tmpdir(), 'toolyard-twice-'))
  t.teardown(() => { rmSync(dir, { recursive: true }) })
  const file = join(dir, 'tools.yaml')
  const cost = async (entry: string): Promise<number> => {
    writeFileSync(file, `schema_version: "1.0"\nmetadata: {name: a, description: b}\ntools:\n${`  - ${entry}\n`.repeat(40_000)}`)
    const before = processorMs()
    t.equal((await loadRegistry({ manifests: [file], builtins: false })).findings.length, 1_001)
    return processorMs() - before
  }
  const once = await cost('{a: 1, b: 2, c: 3}')
  const twice = await cost('{a: 1, a: 2, a: 3}')
  t.ok(twice < 2.5 * once, `${twice.toFixed()} ms, and ${once.toFixed()} ms for other faults`)
})
