import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { outputOf } from '../executors/fixture.ts'
import { boxedTools, withoutBox } from '../sandbox/boxed-tools.ts'
import { openSandbox } from '@toolyard/executors'

const program = join(import.meta.dirname, '../../../samples/hostile/tools/bin/devour.py')
const skip = await withoutBox() || await withoutGroups()

async function withoutGroups (): Promise<string | false> {
  const sandbox = await openSandbox({ mode: 'auto', env: process.env, workspaceDir: process.cwd(), hidden: [], defaultPermissions: [] })
  sandbox.close()
  const finding = sandbox.report.findings.find(({ layer }) => layer === 'cgroup')
  return finding?.holds === true ? false : `no control groups here: ${finding?.detail}`
}

void t.test('fault 16 the processes of a call are bounded together, those of root as well', { skip }, async t => {
  const tools = await boxedTools(t)
  const { taken } = outputOf(await tools.run({ program, arguments: { what: 'processes' }, limits: { processes: 40 }, timeoutMs: 60_000 })) as { taken: number }
  t.ok(taken > 0 && taken <= 40, `it got ${taken} processes`)
  t.equal(outputOf(await tools.shell('echo fine')), 'fine')
})

void t.test('fault 16 the memory of a call is bounded for all of its processes together', { skip }, async t => {
  const tools = await boxedTools(t)
  const script = 'for i in 1 2 3 4; do (head -c 100000000 /dev/zero | tail -c 100000000 | (sleep 3; wc -c)) & done; wait'
  const counts = (await tools.shell(script, { limits: { memoryBytes: 2 ** 28 } }))
  const whole = String(counts.ok ? counts.output : '').split('\n').filter(line => line === '100000000').length
  t.ok(whole < 4, `${whole} of 4 processes held their 100 MB`)
  t.equal(outputOf(await tools.shell('echo fine')), 'fine')
})

void t.test('fault 10 no control group is left behind, of a call or of a worker', { skip }, async t => {
  const tools = await boxedTools(t)
  const directories = (tools.sandbox.groups?.members ?? []).map(file => dirname(file))
  t.ok(directories.length > 0 && directories.every(existsSync))
  await Promise.all(Array.from({ length: 5 }, async () => { outputOf(await tools.shell('sleep 600 & true', { limits: { processes: 50 } })) }))
  t.strictSame(directories.flatMap(directory => readdirSync(directory)).filter(name => name.startsWith('call-')), [])
  await tools.executors.close()
  tools.sandbox.close()
  t.notOk(directories.some(existsSync))
})
