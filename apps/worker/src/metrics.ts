import { boundLayer, sandboxLayers } from '@toolyard/sandbox'
import type { Redis } from '@toolyard/store'
import type { JobMetrics, SandboxMetrics, Settings, ToolMetrics } from '@toolyard/runtime'

export interface WorkerMetrics {
  tools: ToolMetrics
  jobs: JobMetrics
  /** Counts the places from now on. */
  places: (places: () => { used: number, total: number }) => void
  callbacks: { sent: (result: string) => void }
  egress: { connected: (decision: string) => void }
  sandbox: SandboxMetrics
  /** All of it in Prometheus' text form. */
  text: () => Promise<string>
  contentType: string
  /** The same for `mergeMetrics`. */
  json: () => Promise<object[]>
}

const silent: WorkerMetrics = {
  tools: { published: () => {}, reloaded: () => {} },
  jobs: { taken: () => {}, ended: () => {} },
  places: () => {},
  callbacks: { sent: () => {} },
  egress: { connected: () => {} },
  sandbox: { opened: () => {} },
  text: async () => '',
  contentType: 'text/plain',
  json: async () => []
}

/**
 * Counts what a worker does. One that nobody asks (it has no `METRICS_PORT`, nor a parent that has) doesn't count.
 *
 * @param env `TOOLYARD_COUNT` is set by the parent that asks.
 */
export async function openWorkerMetrics (settings: Settings, redis: Redis, env: NodeJS.ProcessEnv): Promise<WorkerMetrics> {
  if (settings.METRICS_PORT === undefined && env['TOOLYARD_COUNT'] !== '1') return silent
  const { createCallbackMetrics, createEgressMetrics, createJobMetrics, createMetrics, createPlaceMetrics, createQueueMetrics, createSandboxMetrics, createToolMetrics } = await import('@toolyard/runtime/metrics')
  const metrics = createMetrics()
  // The queues are the same for all: API processes count them, so that a large fleet doesn't.
  createQueueMetrics(metrics, { queues: async () => await Promise.resolve([]), ping: () => redis.ping() })
  const tools = createToolMetrics(metrics)
  const jobs = createJobMetrics(metrics, settings.WORKER_TOTAL_CONCURRENCY ?? settings.WORKER_CONCURRENCY)
  const callbacks = createCallbackMetrics(metrics)
  const sandbox = createSandboxMetrics(metrics, [...sandboxLayers, boundLayer])
  return {
    tools,
    jobs,
    places: places => { createPlaceMetrics(metrics, places) },
    callbacks,
    egress: createEgressMetrics(metrics),
    sandbox,
    text: () => metrics.metrics(),
    contentType: metrics.contentType,
    json: () => metrics.getMetricsAsJSON()
  }
}
