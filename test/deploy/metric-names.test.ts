import { createCallMetrics, createJobMetrics, createMetrics, createQueueMetrics, createToolMetrics } from '@toolyard/runtime/metrics'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { repoRoot } from '../repo/source-tree.ts'

t.test('every metric that alerts and autoscalers ask for is one that processes tell', async t => {
  const registry = createMetrics()
  createToolMetrics(registry)
  createCallMetrics(registry)
  createJobMetrics(registry, 1)
  createQueueMetrics(registry, { queues: async () => [], ping: async () => 'PONG' })
  const known = new Set(registry.getMetricsAsArray().map(({ name }) => name))
  for (const file of ['docs/operations.md', 'deploy/kubernetes/components/keda/scaled-object.yaml']) {
    const names = new Set(readFileSync(join(repoRoot, file), 'utf8').match(/\btoolyard_[a-z0-9_]+/g))
    t.ok(names.size > 0, file)
    t.strictSame([...names].filter(name => !known.has(name.replace(/_(count|sum|bucket)$/, ''))), [], file)
  }
})
