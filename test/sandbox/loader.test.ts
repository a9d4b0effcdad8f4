import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { outputOf } from '../executors/fixture.ts'
import { boxedTools, withoutBox } from './boxed-tools.ts'

const skip = await withoutBox()

void t.test('what a tool gets for the loader of programs counts inside its box, and for nothing that makes the box', { skip }, async t => {
  const outside = mkdtempSync(join(tmpdir(), 'toolyard-loader-'))
  t.teardown(() => { rmSync(outside, { recursive: true }) })
  // The loader of each program with these variables writes a file, before the program's own code runs.
  const env = { ...process.env, LD_DEBUG: 'libs', LD_DEBUG_OUTPUT: join(outside, 'seen') }
  const tools = await boxedTools(t, { env })
  const outcome = await tools.shell('echo "$LD_DEBUG_OUTPUT"', { envPassthrough: ['LD_DEBUG', 'LD_DEBUG_OUTPUT'] })
  t.match(String(outputOf(outcome)), env.LD_DEBUG_OUTPUT)
  t.strictSame(readdirSync(outside), [])
})
