import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { outputOf } from '../executors/fixture.ts'
import { boxedTools, withoutBox } from '../sandbox/boxed-tools.ts'

const program = join(import.meta.dirname, '../../../samples/hostile/tools/bin/devour.py')
const skip = await withoutBox()

void t.test('fault 16 memory is bounded for each process, and other processes go on', { skip }, async t => {
  const tools = await boxedTools(t)
  const greedy = tools.run({ program, arguments: { what: 'memory' }, limits: { memoryBytes: 2 ** 28 } })
  t.equal(outputOf(await tools.shell('echo fine')), 'fine')
  const { taken } = outputOf(await greedy) as { taken: number }
  t.ok(taken > 0 && taken <= 2 ** 28, `it got ${taken} bytes`)
})

void t.test('fault 16 disk is bounded: what a tool writes goes into a box of its own', { skip }, async t => {
  const tools = await boxedTools(t)
  const { taken } = outputOf(await tools.run({ program, arguments: { what: 'disk' }, limits: { tempBytes: 2 ** 26 } })) as { taken: number }
  t.ok(taken <= 2 ** 26, `it wrote ${taken} bytes`)
  const file = await tools.shell('head -c 20000000 /dev/zero > big', { permissions: ['write_files'], limits: { fileBytes: 10_000_000 } })
  t.match(file, { ok: false, error: { code: 'TOOL_FAILED' } })
})

void t.test('fault 16 processor time is bounded', { skip }, async t => {
  const tools = await boxedTools(t)
  t.match(await tools.shell('while :; do :; done', { limits: { cpuSec: 1 } }), { ok: false, error: { code: 'TOOL_FAILED', message: 'signal: SIGXCPU' } })
})

void t.test('fault 16 a tool that forks without end stops no other call', { skip }, async t => {
  const tools = await boxedTools(t)
  const bomb = tools.run({ program, arguments: { what: 'processes' }, limits: { processes: 64 }, timeoutMs: 20_000 })
  await sleep(50)
  t.equal(outputOf(await tools.shell('echo fine')), 'fine')
  const { taken } = outputOf(await bomb) as { taken: number }
  t.comment(`it got ${taken} processes`)
  // The kernel doesn't count the processes of root.
  t.ok(process.getuid?.() === 0 || taken <= 64)
  t.equal(outputOf(await tools.shell('set -- /proc/[0-9]*; echo $#')), 2, 'none of them is in another box: only its first process and the shell')
})
