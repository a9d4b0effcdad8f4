/* `@toolyard/runtime/metrics`: its library is loaded only by processes that show metrics. */
export { createCallMetrics, createJobMetrics, type JobMetrics } from './call-metrics.ts'
export { createCallbackMetrics, createEgressMetrics, createMetrics, createPlaceMetrics, createSandboxMetrics, createToolMetrics, mergeMetrics, type MetricsRegistry, type ToolMetrics } from './metrics.ts'
export { createQueueMetrics } from './queue-metrics.ts'
