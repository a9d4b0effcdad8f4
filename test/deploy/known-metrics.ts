import * as metrics from '@toolyard/runtime/metrics'

/** Set by Prometheus itself, or by Kubernetes' scrapes. */
const ofTargets = ['job', 'instance', 'namespace', 'pod', '__name__']

/** The names of metrics as they are scraped, each with its labels. */
export function knownMetrics (): Map<string, readonly string[]> {
  const registry = metrics.createMetrics()
  metrics.createToolMetrics(registry)
  metrics.createCallMetrics(registry)
  metrics.createJobMetrics(registry, 1)
  metrics.createCallbackMetrics(registry)
  metrics.createSandboxMetrics(registry, [])
  metrics.createQueueMetrics(registry, { queues: async () => await Promise.resolve([]), ping: async () => await Promise.resolve('PONG') })
  const all = registry.getMetricsAsArray() as unknown as Array<{ name: string, type: string, labelNames: string[] }>
  const known = new Map<string, readonly string[]>([['up', []]])
  for (const { name, type, labelNames } of all) {
    if (type !== 'histogram') known.set(name, labelNames)
    else for (const part of ['bucket', 'sum', 'count']) known.set(`${name}_${part}`, part === 'bucket' ? [...labelNames, 'le'] : labelNames)
  }
  return known
}

/** Metrics in an expression of PromQL that no process tells; a line each. */
export function strangersIn (expression: string, known: Map<string, readonly string[]>): string[] {
  const code = expression.replace(/"[^"]*"/g, '""')
  const named = [...code.matchAll(/\b(toolyard_\w+|up)\b\s*(?:\{([^}]*)\})?/g)]
  const labels = new Set([...ofTargets, ...named.flatMap(([, name = '']) => known.get(name) ?? [])])
  const grouped = [...code.matchAll(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g)].flatMap(([, list = '']) => split(list))
  return [
    ...named.length === 0 ? [`no metric in ${expression}`] : [],
    ...named.flatMap(([, name = '', selectors = '']) => {
      const own = known.get(name)
      if (own === undefined) return [`no metric ${name}`]
      return split(selectors).map(selector => selector.split(/[=!]/)[0] ?? '').filter(label => ![...own, ...ofTargets].includes(label)).map(label => `${name} has no label ${label}`)
    }),
    ...grouped.filter(label => !labels.has(label)).map(label => `no label ${label} in ${expression}`)
  ]
}

function split (list: string): string[] {
  return list.split(',').map(item => item.trim()).filter(item => item !== '')
}
