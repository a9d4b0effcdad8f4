import t from 'tap'
import { outputOf } from '../executors/fixture.ts'
import { hasPython } from '../support/python.ts'
import { boxedTools, withoutBox } from './boxed-tools.ts'

const skip = await withoutBox()
/** Files of the kernel for root alone: of memory of the machine, and the locks that reading them holds. */
const files = ['kpageflags', 'kpagecount', 'slabinfo', 'vmallocinfo', 'timer_list', 'pagetypeinfo']

void t.test('a box reads no file of the kernel that is for root alone, and writes none, whoever its worker runs as', { skip }, async t => {
  const tools = await boxedTools(t)
  const readable = await tools.shell(`for name in ${files.join(' ')}; do head -c 8 /proc/$name 2>/dev/null | grep -qc '' && echo $name; done; echo end`)
  t.equal(outputOf(readable), 'end')
  const written = await tools.shell(`for name in ${files.join(' ')}; do (echo 1 > /proc/$name) 2>/dev/null && head -c 8 /proc/$name; done; echo end`)
  t.equal(outputOf(written), 'end')
  t.match(outputOf(await tools.shell('cat /proc/meminfo /proc/cpuinfo /proc/self/status')), /MemTotal[^]*processor[^]*Name:/)
})

void t.test('a box stays on all of its processors: a process that moves from one to another in a loop would hold up the machine', { skip: skip === false && !hasPython() ? 'there is no Python' : skip }, async t => {
  const tools = await boxedTools(t)
  const moved = await tools.shell("python3 -c 'import os; before = os.sched_getaffinity(0); os.sched_setaffinity(0, [0]); print(before == os.sched_getaffinity(0))'")
  t.equal(outputOf(moved), 'True')
})
