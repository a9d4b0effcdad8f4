import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { isAlive, linuxPython } from '../python/fixture.ts'

const { endHolders } = await import(import.meta.resolve('@toolyard/sandbox').replace(/index\.js$/, 'process/table/holders.js')) as { endHolders: (files: readonly string[]) => Promise<void> }

t.test('the processes that hold a file are gone when it returns, not only killed', { skip: linuxPython.skip }, async t => {
  const file = join(t.testdir({ file: '' }), 'file')
  const held = openSync(file, 'r')
  // Its end takes the kernel a while.
  const child = spawn('python3', ['-c', 'import time\nmemory = bytearray(b"x") * 1_000_000_000\nprint("full", flush=True)\ntime.sleep(600)'], { stdio: ['ignore', 'pipe', 'inherit', held] })
  closeSync(held)
  await once(child.stdout ?? child, 'data')
  await endHolders([file])
  t.notOk(isAlive(child.pid ?? 0))
})
