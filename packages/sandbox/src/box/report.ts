/** The layers of the box around one call, each proved by a canary. */
export const boxLayers = ['bubblewrap', 'files', 'writes', 'processes', 'network', 'sockets', 'system-calls', 'descendants', 'limits'] as const
/**
 * `python`: calls of Python tools, which share a box, are shut in by themselves. `egress`: tools that name their hosts reach
 * no others.
 */
export const sandboxLayers = [...boxLayers, 'python', 'egress'] as const
/** Bounds a whole call; a box without it is still a whole box. */
export const boundLayer = 'cgroup'
/** For an operator, where there are no control groups. */
export const withoutGroups = 'full; without control groups memoryBytes counts for each process of a call'
type SandboxLayer = (typeof sandboxLayers)[number] | typeof boundLayer

/** One layer, as a probe found it. */
export interface LayerFinding {
  layer: SandboxLayer
  holds: boolean
  /** For a person: what a tool could do, or why it isn't known. */
  detail: string
}

/** How well the tools of a worker are shut in: in its log, in `/ready`, in each job. */
export interface SandboxReport {
  /** `full`: every layer holds; `partial`: processes run in a box with gaps; `none`: they run in the open. */
  level: 'full' | 'partial' | 'none'
  /** The layers that don't hold. */
  missing: SandboxLayer[]
  findings: readonly LayerFinding[]
  /** The remedy; empty when nothing is missing. */
  advice: string
}

/** What a layer that lacks the program itself has for its detail. */
export const noBubblewrap = 'there is no bwrap on the PATH'
const install = 'Install bubblewrap (apt-get install bubblewrap) and allow unprivileged user namespaces; toolyard doctor shows each layer.'

/** Sums up the findings; none at all mean that no box was asked for. */
export function reportOf (findings: readonly LayerFinding[] | undefined): SandboxReport {
  if (findings === undefined) return { level: 'none', missing: [...sandboxLayers, boundLayer], findings: [], advice: 'SANDBOX=off: tools run in the open.' }
  const missing: SandboxLayer[] = sandboxLayers.filter(layer => !findings.some(finding => finding.layer === layer && finding.holds))
  const level = missing.includes('bubblewrap') ? 'none' : missing.length === 0 ? 'full' : 'partial'
  return { level, missing, findings, advice: adviceOf(findings) }
}

/** Who has bubblewrap isn't told to install it. */
function adviceOf (findings: readonly LayerFinding[]): string {
  const gap = findings.find(({ holds }) => !holds)
  if (gap === undefined && findings.length > 0) return ''
  if (gap === undefined || gap.detail === noBubblewrap) return install
  return `The first is ${gap.layer}: ${gap.detail}. toolyard doctor shows each layer, and "The sandbox in a container" in docs/operations.md what forbids it.`
}

/** Adds what was found out about control groups. The level stays the same. */
export function withBounds (report: SandboxReport, finding: LayerFinding): SandboxReport {
  return {
    ...report, missing: finding.holds ? report.missing : [...report.missing, finding.layer], findings: [...report.findings, finding]
  }
}
