import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { python } from '../python/fixture.ts'
import { withoutBox } from '../sandbox/boxed-tools.ts'

const directory = join(import.meta.dirname, '../python')
const skip = python.skip === false ? await withoutBox() : python.skip
/** What tells processes by their pids, which a nest hides, starts workers of its own, or runs no tool. */
const openOnly = new Set(['death.test.js', 'environment.test.js', 'init-report.test.js'])

t.setTimeout(600_000)
for (const file of readdirSync(directory).filter(name => name.endsWith('.test.js') && !openOnly.has(name))) {
  void t.spawn(process.execPath, [join(directory, file)], { skip, env: { ...process.env, TOOLYARD_TEST_BOXED: '1' }, timeout: 500_000 }, `a Python tool does in the sandbox what it does in the open: ${file}`)
}
