/** The layers of the box, each proved by a canary. */
export const sandboxLayers = ['bubblewrap', 'files', 'writes', 'processes', 'network', 'sockets', 'system-calls', 'descendants', 'limits'] as const
export type SandboxLayer = (typeof sandboxLayers)[number]

/** What a probe found out about one layer. */
export interface LayerFinding {
  layer: SandboxLayer
  holds: boolean
  /** What a tool could do, or why it isn't known; for a person. */
  detail: string
}

/** How well the tools of a worker are shut in: in its log, in `/ready`, in each job. */
export interface SandboxReport {
  /** `full`: every layer holds; `partial`: processes run in a box with gaps; `none`: they run in the open. */
  level: 'full' | 'partial' | 'none'
  /** The layers that don't hold. */
  missing: SandboxLayer[]
  findings: readonly LayerFinding[]
  /** What to do about it; empty when nothing is missing. */
  advice: string
}

const install = 'Install bubblewrap (apt-get install bubblewrap) and allow unprivileged user namespaces; toolyard doctor shows each layer.'

/** Sums up the findings; none at all mean that no box was asked for. */
export function reportOf (findings: readonly LayerFinding[] | undefined): SandboxReport {
  if (findings === undefined) return { level: 'none', missing: [...sandboxLayers], findings: [], advice: 'SANDBOX=off: tools run in the open.' }
  const missing = sandboxLayers.filter(layer => !findings.some(finding => finding.layer === layer && finding.holds))
  const level = missing.includes('bubblewrap') ? 'none' : missing.length === 0 ? 'full' : 'partial'
  return { level, missing, findings, advice: missing.length === 0 ? '' : install }
}
