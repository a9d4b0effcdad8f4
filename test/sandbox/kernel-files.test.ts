import { closeSync, openSync, readSync } from 'node:fs'
import t from 'tap'
import { outputOf } from '../executors/fixture.ts'
import { boxedTools, withoutBox } from './boxed-tools.ts'

const skip = await withoutBox()
/** Files of the kernel for root alone, which docs/security.md names. */
const files = ['kpageflags', 'slabinfo', 'vmallocinfo']

function isReadable (name: string): boolean {
  try {
    const file = openSync(`/proc/${name}`, 'r')
    try {
      return readSync(file, Buffer.alloc(8)) > 0
    } finally {
      closeSync(file)
    }
  } catch {
    return false
  }
}

void t.test('a box can read kernel files that only root may read if its worker runs as root, and can never write to them', { skip }, async t => {
  const tools = await boxedTools(t)
  const readable = await tools.shell(`for name in ${files.join(' ')}; do head -c 8 /proc/$name 2>/dev/null | grep -qc '' && echo $name; done; echo end`)
  t.strictSame(String(outputOf(readable)).split('\n'), [...files.filter(isReadable), 'end'])
  if (process.getuid?.() !== 0) t.strictSame(files.filter(isReadable), [])
  const written = await tools.shell(`for name in ${files.join(' ')}; do (echo 1 > /proc/$name) 2>/dev/null && echo $name; done; echo end`)
  t.equal(outputOf(written), 'end')
})
