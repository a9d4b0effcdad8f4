import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { repoRoot } from '../repo/source-tree.ts'
import { knownMetrics, strangersIn } from './known-metrics.ts'

const known = knownMetrics()

t.test('every metric that alerts and autoscalers ask for is one that processes report', async t => {
  for (const file of ['docs/operations.md', 'deploy/kubernetes/components/keda/scaled-object.yaml']) {
    const names = new Set(readFileSync(join(repoRoot, file), 'utf8').match(/\btoolyard_[a-z0-9_]+/g))
    t.ok(names.size > 0, file)
    t.strictSame([...names].filter(name => !known.has(name) && !known.has(`${name}_bucket`)), [], file)
  }
})

for (const [expression, stranger] of [
  ['sum(toolyard_jobs_runing)', ['no metric toolyard_jobs_runing']],
  ['toolyard_jobs_total{tol="a", job=~"x,y"}', ['toolyard_jobs_total has no label tol']],
  ['max by (queue, tool) (toolyard_queue_jobs{state!="}"})', ['no label tool in max by (queue, tool) (toolyard_queue_jobs{state!="}"})']],
  ['rate(toolyard_job_run_seconds[5m])', ['no metric toolyard_job_run_seconds']],
  ['sum by (tool, le) (rate(toolyard_job_run_seconds_bucket[5m])) > on (tool) toolyard_calls_total', []],
  ['1 + 1', ['no metric in 1 + 1']]
] as const) {
  t.test(`what is wrong with ${expression}: ${stranger.join() || 'nothing'}`, async t => {
    t.strictSame(strangersIn(expression, known), stranger)
  })
}
