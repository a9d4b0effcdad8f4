import type { Registry, Tool } from '@toolyard/manifests'
import type { ServedTools } from '@toolyard/runtime'

/** What `toolyard start` tells of the manifests. */
export function servedTools (registry: Registry, count: number): ServedTools {
  const files = new Set(registry.all().filter(({ tool }) => tool.source.format !== 'builtin').map(({ tool }) => tool.source.file))
  const faulty = new Set(registry.findings.filter(({ severity }) => severity === 'error').map(({ file }) => file))
  const callable = registry.published().find(({ tool }) => tool.source.format !== 'builtin' && tool.enabled && tool.unavailable === undefined && takesNothing(tool))
  return { count, manifests: files.size, faulty: faulty.size, ...callable !== undefined && { callable: callable.tool.name } }
}

/** Whether a call without arguments fits. */
function takesNothing ({ parameters: { type, required = [] } }: Tool): boolean {
  return type === 'object' && Array.isArray(required) && required.length === 0
}
