import type { Finding, Registry, Tool } from '@toolyard/manifests'
import type { ServedTools } from '@toolyard/runtime'

/** What `toolyard start` tells of the manifests. */
export function servedTools (registry: Registry, count: number): ServedTools {
  const files = new Set(registry.all().filter(({ tool }) => tool.source.format !== 'builtin').map(({ tool }) => tool.source.file))
  const errors = registry.findings.filter(({ severity }) => severity === 'error')
  const refused = [...new Set(errors.map(({ file }) => file))].flatMap(file => {
    const [first, ...more] = errors.filter(error => error.file === file)
    return first === undefined ? [] : [{ file, fault: faultOf(first), more: more.length }]
  })
  const callable = registry.published().find(({ tool }) => tool.source.format !== 'builtin' && tool.enabled && tool.unavailable === undefined && takesNothing(tool))
  return { count, manifests: files.size, refused, ...callable !== undefined && { callable: callable.tool.name } }
}

/** Whether a call without arguments fits. */
function takesNothing ({ parameters: { type, required = [] } }: Tool): boolean {
  return type === 'object' && Array.isArray(required) && required.length === 0
}

function faultOf ({ line, message, rule, fix }: Finding): string {
  return `${line === undefined ? '' : `line ${line}: `}${message} (${rule})${fix === undefined ? '' : `. ${fix}`}`
}
