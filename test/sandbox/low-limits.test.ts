import { spawnSync } from 'node:child_process'
import t from 'tap'
import { outputOf } from '../executors/fixture.ts'
import { python } from '../python/fixture.ts'
import { boxedPython } from './boxed-python.ts'
import { boxedTools, withoutBox } from './boxed-tools.ts'

/* The limits of a worker, as a unit or a container sets them: they are those of this process from here on. */
spawnSync('prlimit', ['--pid', String(process.pid), '--nofile=220', '--sigpending=500', `--fsize=${2 ** 29}`, '--msgqueue=4096'])
const skip = await withoutBox()

const bounds = { 'Max file size': 2 ** 29, 'Max open files': 220, 'Max pending signals': 500, 'Max msgqueue size': 4_096, 'Max processes': 256 }

function limitsIn (text: unknown): Record<string, number> {
  return Object.fromEntries(Object.keys(bounds).map(name => [name, Number(new RegExp(`${name} +(\\d+) `).exec(String(text))?.[1])]))
}

void t.test('a worker that has less than the limits of tools has a whole sandbox, whose tools have as much as it', async t => {
  t.equal(skip, false)
  const tools = await boxedTools(t)
  for (const limits of [{}, { openFiles: 2_000 }]) t.same(limitsIn(outputOf(await tools.shell('cat /proc/self/limits', { limits }))), bounds)
  const open = await boxedTools(t, { mode: 'off' })
  t.match(limitsIn(outputOf(await open.shell('cat /proc/self/limits', { limits: { openFiles: 2_000 } }))), { 'Max open files': 220 })
  if (python.skip !== false) return
  const host = await boxedPython(t)
  t.same(limitsIn(outputOf(await host.execute('limits', 'return open("/proc/self/limits").read()'))), bounds)
})
