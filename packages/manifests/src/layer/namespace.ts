import { isRecord, limits } from '@toolyard/contract/terms'
import { Type } from '@toolyard/contract/type'
import type { Layer } from './layer.ts'

/** What all tools of a manifest belong to. */
export const Namespace = Type.String({
  minLength: 1, maxLength: limits.namespaceChars, description: 'What the tools of this file belong to, such as billing: models and people look for tools by it.'
})

/** The layer of a manifest whose text is `value`, with its namespace in the tools that have none of their own. */
export function withNamespace (layer: Layer, value: unknown, file: string): Layer {
  const namespace = isRecord(value) ? value['namespace'] : undefined
  if (namespace === undefined || namespace === null) return layer
  if (typeof namespace !== 'string' || namespace === '' || namespace.length > limits.namespaceChars) {
    const message = `namespace must be a text of 1 to ${limits.namespaceChars} characters; it is ignored`
    return { ...layer, findings: [...layer.findings, { severity: 'warning', file, rule: 'lint/name', message, fix: 'Name what the tools belong to, such as billing.' }] }
  }
  return {
    ...layer,
    entries: layer.entries.map(entry => entry.kind === 'switch' || entry.tool.namespace !== undefined ? entry : { ...entry, tool: { ...entry.tool, namespace } })
  }
}
