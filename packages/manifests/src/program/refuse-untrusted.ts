import type { Finding } from '../finding/finding.ts'
import type { Layer, LayerEntry } from '../layer/layer.ts'

/** The same layer, in which a tool whose program others than its owner may replace can't run, and the finding is an error. */
export function refuseUntrusted (layer: Layer): Layer {
  const untrusted = new Map(layer.findings.filter(finding => finding.untrusted === true).map(finding => [placeOf(finding), finding]))
  if (untrusted.size === 0) return layer
  const refused = (entry: LayerEntry): LayerEntry => {
    const finding = entry.kind === 'tool' ? untrusted.get(placeOf({ ...entry.tool.source, tool: entry.tool.name })) : undefined
    return entry.kind === 'tool' && finding !== undefined ? { ...entry, tool: { ...entry.tool, unavailable: finding.message } } : entry
  }
  return {
    ...layer,
    entries: layer.entries.map(refused),
    findings: layer.findings.map(finding => finding.untrusted === true ? { ...finding, severity: 'error' } : finding)
  }
}

function placeOf ({ file, index, tool }: Pick<Finding, 'file' | 'index' | 'tool'>): string {
  return JSON.stringify([file, index, tool])
}
