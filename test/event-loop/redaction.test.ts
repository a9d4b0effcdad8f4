import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { openAudit } from '@toolyard/executors'
import { leavesLoopFree } from './longest-turn.ts'

const patterns = ['(a+)+$', '(x?){30}y', 'sk-[a-z0-9]+']
/** The argv of a call: many texts on which a pattern backtracks, and many on which it hardly does. */
const argvs: Record<string, (run: number) => string[]> = {
  'texts that take all their time': run => Array.from({ length: 200 }, (_, at) => `${'a'.repeat(40 + at % 7)}${run}${at}!`),
  'texts that take some of it': run => Array.from({ length: 2_000 }, (_, at) => `${'a'.repeat(17)}${run}${at}!`),
  'short texts': run => Array.from({ length: 20_000 }, (_, at) => `${run}.${at}`)
}

t.test('promise 10: no pattern of REDACT holds up the event loop, however many texts a call has', async t => {
  const dir = mkdtempSync(join(tmpdir(), 'toolyard-redaction-'))
  t.teardown(() => { rmSync(dir, { recursive: true }) })
  const audit = openAudit({ dir, redact: patterns.join(';'), secrets: [], onError: () => {} })
  let run = 0
  for (const [what, argvOf] of Object.entries(argvs)) {
    await leavesLoopFree(t, what, async () => {
      // On a turn of its own: what makes the texts isn't measured.
      audit.record({ at: new Date(), tool: 'sample', job: 'job-1', argv: argvOf(run++), cwd: '/', exit: 0, ms: 1, stdoutBytes: 0, stderrBytes: 0, truncated: false, envKeys: [] })
    })
  }
  await audit.flush()
  const lines = readdirSync(dir).flatMap(file => readFileSync(join(dir, file), 'utf8').trimEnd().split('\n'))
  t.equal(lines.length, run, 'each call has its line')
  t.notMatch(lines.join('\n'), /a{40}/, 'texts in which a pattern was stopped are hidden')
})
