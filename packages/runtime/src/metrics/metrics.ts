import { AggregatorRegistry, collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'

export type { Registry as MetricsRegistry } from 'prom-client'

/** A registry of metrics that holds the process's own (memory, event loop, garbage collection). */
export function createMetrics (): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'toolyard_' })
  return registry
}

/** Values of one label that are told apart; more would grow a process's memory, and its scrapes, without bound. */
const maxValues = 500

/** Makes a function that gives the value of a label: the first 500 as they are, `other` for the rest, empty for undefined. */
export function boundedLabel (): (value: string | undefined) => string {
  const known = new Set<string>()
  return value => {
    if (value === undefined) return ''
    if (!known.has(value) && known.size >= maxValues) return 'other'
    known.add(value)
    return value
  }
}

/** The metrics of several processes as one text: `of` has what `getMetricsAsJSON` gave in each of them. */
export async function mergeMetrics (of: readonly object[][]): Promise<string> {
  return await AggregatorRegistry.aggregate([...of]).metrics()
}

/** Alerts can be made on a reload that was refused. */
export interface ToolMetrics {
  published: (tools: ReadonlyArray<{ namespace?: string }>) => void
  /** A reload ended: `replaced` or `unchanged`, and something of it is not served because of faults. */
  reloaded: (result: { kind: string, errors: readonly unknown[] }) => void
}

export function createToolMetrics (registry: Registry): ToolMetrics {
  const registers = [registry]
  const tools = new Gauge({ name: 'toolyard_registry_tools', help: 'Tools that are published.', registers })
  const spaces = new Gauge({ name: 'toolyard_namespace_tools', help: 'Published tools of a namespace.', labelNames: ['namespace'], registers })
  const refused = new Gauge({ name: 'toolyard_registry_reload_refused', help: '1 while the newest manifests have faults and the tools that these are about are served as they were.', registers })
  const reloads = new Counter({ name: 'toolyard_registry_reloads_total', help: 'Reloads of the manifests, by result.', labelNames: ['result'], registers })
  return {
    published: all => {
      tools.set(all.length)
      spaces.reset()
      const label = boundedLabel()
      for (const { namespace } of all) if (namespace !== undefined) spaces.inc({ namespace: label(namespace) })
    },
    reloaded: ({ kind: result, errors }) => {
      reloads.inc({ result })
      refused.set(errors.length > 0 ? 1 : 0)
    }
  }
}

/** Adds what a worker's places are: those that are used, and all of them in the queues that it serves now. */
export function createPlaceMetrics (registry: Registry, places: () => { used: number, total: number }): void {
  registry.registerMetric(new Gauge({
    name: 'toolyard_worker_places',
    help: 'Jobs that this worker can run at once, over all queues that it serves now.',
    registers: [],
    collect () { this.set(places().total) }
  }))
  registry.registerMetric(new Gauge({
    name: 'toolyard_worker_places_used', help: 'Those of its places that are used.', registers: [], collect () { this.set(places().used) }
  }))
}

/** Adds the counter of callbacks; `sent` counts one attempt: `delivered`, `failed`, `given_up` or `refused`. */
export function createCallbackMetrics (registry: Registry): { sent: (result: string) => void } {
  const sent = new Counter({ name: 'toolyard_callbacks_total', help: 'Attempts to send a callback, by result.', labelNames: ['result'], registers: [registry] })
  // A counter that begins with its first event hides that one from `increase`.
  for (const result of ['delivered', 'failed', 'given_up', 'refused']) sent.inc({ result }, 0)
  return { sent: result => { sent.inc({ result }) } }
}

/** Adds the counter of connections that tools with a list of hosts have asked for: `allowed` or `denied`. */
export function createEgressMetrics (registry: Registry): { connected: (decision: string) => void } {
  const connections = new Counter({ name: 'toolyard_egress_connections_total', help: 'Connections of tools that name their hosts, by decision.', labelNames: ['decision'], registers: [registry] })
  for (const decision of ['allowed', 'denied']) connections.inc({ decision }, 0)
  return { connected: decision => { connections.inc({ decision }) } }
}

export interface SandboxMetrics {
  /** The sandbox was opened, without these layers. */
  opened: (missing: readonly string[]) => void
}

export function createSandboxMetrics (registry: Registry, layers: readonly string[]): SandboxMetrics {
  const level = new Gauge({ name: 'toolyard_sandbox_level', help: '1 for a layer of the sandbox that holds, else 0.', labelNames: ['layer'], registers: [registry] })
  return { opened: missing => { for (const layer of layers) level.set({ layer }, missing.includes(layer) ? 0 : 1) } }
}
