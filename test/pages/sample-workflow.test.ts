import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import t from 'tap'
import { createService } from '../support/service.ts'

const samples = fileURLToPath(new URL('../../../samples', import.meta.url))
const sample = (path: string): string => readFileSync(join(samples, 'workspace', path), 'utf8')

t.test('RC43 the sample workflow runs as docs/jobs.md shows it', async t => {
  const { client, dir } = await createService(t, {
    files: Object.fromEntries(['workflows.yaml', 'README.md', 'notes/todo.md'].map(path => [`workspace/${path}`, sample(path)])),
    env: { TOOL_MANIFESTS: join(samples, 'tools.json') }
  })
  const { output } = await client.call('workflow_run', { workflow: 'note_report', params: { note: 'notes/todo.md' } })
  t.match(output, { ok: true, created_count: 3, output: { report: 'report.md', words: [38, Number] } })
  t.match(readFileSync(join(dir, 'workspace/report.md'), 'utf8'), /^notes\/todo\.md: 38 words\nREADME\.md: \d+ words\n$/)
})
