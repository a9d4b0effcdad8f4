import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createExecutors, openAudit } from '@toolyard/executors'
import { createFixture } from '../executors/fixture.ts'
import { testTool } from '../support/tool.ts'
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
    const tool = testTool({ kind: 'command', program: '/bin/sh', args: ['-c', ...args], envPassthrough: [] })
    const outcome = await executors.run(tool, {}, { jobId: 'job-1', timeoutMs: 60_000, signal: new AbortController().signal, log: line => { lines.push(line) } })
    // As the worker does with it.
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

t.test('promise 10: no flood of progress or of lines holds up the event loop, whoever else floods', async t => {
  const fixture = createFixture(t)
  const floods = {
    'progress without end': "yes '::progress 7/9 some text'",
    'progress and other lines': "yes '::progress 7\nline'",
    'lines that almost tell progress': "yes '::progress 7x'",
    'empty lines': 'yes ""',
    'long lines': `yes ${'x'.repeat(3_000)}`
  }
  for (const [what, flood] of Object.entries(floods)) {
    await leavesLoopFree(t, what, async () => {
      const ends = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(async () => {
        let told = 0
        const end = await fixture.runShell(`${flood} | head -c 8000000 >&2; printf '\\n::progress 8/9\\n' >&2; echo out`, {
          log: () => {}, progress: ({ done }) => { told = done }
        })
        return { end, told }
      }))
      for (const { end, told } of ends) {
        t.match(end, { ok: true, output: 'out' })
        t.equal(told, 8, 'the last progress counts')
      }
    })
  }
})
