import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createExecutors, openAudit } from '@toolyard/executors'
import { createFixture } from '../executors/fixture.ts'
import { leavesLoopFree } from './longest-turn.ts'
import { worstTexts } from './worst-texts.ts'

/** Bytes of an output at most, and of one that is read without a thread. */
const sizes = [1_048_576, 65_536]

t.test('promise 10: nothing that a command prints holds up the event loop', async t => {
  const fixture = createFixture(t)
  const executors = createExecutors({ workspaceDir: fixture.workspace, env: process.env, maxOutputBytes: 1_048_576, audit: openAudit({ dir: join(fixture.workspace, 'audit'), redact: '', secrets: [], onError: error => { throw error } }) })
  t.teardown(() => executors.close())
  const lines: string[] = []
  const run = async (args: string[]): Promise<void> => {
    const outcome = await executors.run({
      name: 'sample',
      description: '',
      parameters: { type: 'object' },
      jobType: 'agentcli.sample',
      enabled: true,
      idempotent: false,
      source: { format: 'agentcli', file: '/tools.json', index: 0 },
      run: { kind: 'command', program: '/bin/sh', args: ['-c', ...args], envPassthrough: [] }
    }, {}, { jobId: 'job-1', timeoutMs: 60_000, signal: new AbortController().signal, log: line => { lines.push(line) } })
    // What the worker does with it.
    if (outcome.ok && outcome.json === undefined) JSON.stringify(outcome.output)
  }
  for (const size of sizes) {
    for (const [what, text] of Object.entries(worstTexts(size))) {
      writeFileSync(join(fixture.workspace, 'f'), text)
      await leavesLoopFree(t, `${size} bytes of ${what} as output`, () => run(['cat f']))
      await leavesLoopFree(t, `${size} bytes of ${what} as failure`, () => run(['cat f >&2; exit 1']))
    }
  }
  writeFileSync(join(fixture.workspace, 'f'), Buffer.alloc(1_048_576, 0xff))
  await leavesLoopFree(t, 'bytes that are no text', () => run(['cat f']))
  writeFileSync(join(fixture.workspace, 'f'), 'a\n'.repeat(5_000_000))
  await leavesLoopFree(t, '10 MB of short lines in the log', () => run(['cat f >&2']))
  await leavesLoopFree(t, 'more output than is kept', () => run(['cat f']))
})
