import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'

export type { Registry as MetricsRegistry } from 'prom-client'

/** A registry of metrics that holds the process's own (memory, event loop, garbage collection). */
export function createMetrics (): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'toolyard_' })
  return registry
}

/** What a process tells of its tools: alerts can be made on a reload that was refused. */
export interface ToolMetrics {
  /** So many tools are published now. */
  published: (count: number) => void
  /** A reload ended: `replaced`, `unchanged` or `refused`. */
  reloaded: (result: string) => void
}

/** Adds the metrics of the tools. */
export function createToolMetrics (registry: Registry): ToolMetrics {
  const registers = [registry]
  const tools = new Gauge({ name: 'toolyard_registry_tools', help: 'Tools that are published.', registers })
  const refused = new Gauge({ name: 'toolyard_registry_reload_refused', help: '1 while the newest manifests are broken and the last good ones are served.', registers })
  const reloads = new Counter({ name: 'toolyard_registry_reloads_total', help: 'Reloads of the manifests, by result.', labelNames: ['result'], registers })
  return {
    published: count => { tools.set(count) },
    reloaded: result => {
      reloads.inc({ result })
      refused.set(result === 'refused' ? 1 : 0)
    }
  }
}
