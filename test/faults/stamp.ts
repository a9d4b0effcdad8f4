import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { Job } from '../jobs/submission.ts'

/**
 * A tool that adds its `mark` to the file `runs` in the workspace, sleeps for `sec` (a text) and says it is done. All in
 * the shell, so that many of them are cheap.
 */
export const stampFiles = {
  'tools/bin/stamp': `#!/bin/sh
read -r line
mark=\${line#*\\"mark\\":\\"}; mark=\${mark%%\\"*}
sec=\${line#*\\"sec\\":\\"}; sec=\${sec%%\\"*}
echo "$mark" >> runs
[ "$sec" = "\${line%%\\"*}" ] || sleep "$sec"
echo '{"done":true}'
`
}

const schema = { type: 'object', properties: { mark: { type: 'string' }, sec: { type: 'string' } }, required: ['mark'] }

/** The tool by two names: `once` isn't idempotent, `again` is. */
export const stampEntries = [
  { name: 'once', schema, command: ['./tools/bin/stamp'], timeoutSec: 60 },
  { name: 'again', schema, command: ['./tools/bin/stamp'], timeoutSec: 60, idempotent: true }
]

/** How often each mark was made. */
export function runsOf ({ dir }: { dir: string }): Map<string, number> {
  const runs = new Map<string, number>()
  let text = ''
  try {
    text = readFileSync(join(dir, 'workspace/runs'), 'utf8')
  } catch {}
  for (const mark of text.split('\n').filter(line => line !== '')) runs.set(mark, (runs.get(mark) ?? 0) + 1)
  return runs
}

/** A job has run once, or its worker was lost, and its state says which. */
export function checkRun (t: Test, service: { dir: string }, { status, error }: Job, mark: string): void {
  const runs = runsOf(service).get(mark) ?? 0
  if (status === 'succeeded') t.equal(runs, 1, mark)
  else t.ok(error?.code === 'WORKER_LOST' && runs <= 1, `${mark}: ${error?.code} after ${runs} runs: ${error?.message}`)
}
