import type { Permission } from '@toolyard/contract'
import type { Tool } from '@toolyard/manifests'
import { dirname, join } from 'node:path'
import { asError } from '@toolyard/contract/terms'
import {
  type Box, type BoxNetwork, closeStrayDescriptors, createLauncher, findOnPath, type Launcher, networkPlaceOf,
  type ProcessGroups, createBox, findHierarchy, memoryBound, openToolGroups, findBubblewrap, findFamily, noFamily, type Family,
  closeFoundation, makeFoundation, placeOf, type BoxFoundation, withoutNetwork, type Grant, createHostBox, type HostBox, defaultLimits,
  isWithin, noBubblewrap, probeBox, boundLayer, reportOf, sandboxLayers, withBounds, withoutGroups, type LayerFinding, type SandboxReport
} from '@toolyard/sandbox'
import { probeSearch } from './builtin/search/probe.ts'
import { probeEgress } from './egress/probe/probe.ts'
import { probePython } from './python/try/probe.ts'
import { boxLimitsOf } from './run/box-limits.ts'
import { SandboxError, type NetworkMeans, type Sandbox, type SandboxOptions } from './run/sandbox.ts'

/**
 * Opens the sandbox and proves each of its layers with a canary that must fail.
 *
 * @throws SandboxError in mode `require` when a layer is missing.
 */
export async function openSandbox (options: SandboxOptions): Promise<Sandbox> {
  const { groups, finding } = options.mode === 'off' ? {} as Bounds : openGroups(options.groups)
  const { foundation, launcher, networks, report: probed } = options.mode === 'off' ? { report: reportOf(undefined) } as Opened : await openFoundation(options, groups)
  const report = finding === undefined ? probed : withBounds(probed, finding)
  let open = foundation !== undefined
  const pythonBoxed = !report.missing.includes('python')
  const close = (): void => {
    if (open && foundation !== undefined) closeFoundation(foundation)
    void launcher?.close()
    void groups?.close()
    open = false
  }
  if (options.mode === 'require' && report.level !== 'full') {
    close()
    throw new SandboxError(`SANDBOX=require, but these layers do not hold: ${report.missing.join(', ')}. ${report.advice}`)
  }
  const permissionsOf = (tool: Tool): readonly Permission[] =>
    (tool.permissions ?? options.defaultPermissions).filter(permission => permission !== 'network' || tool.network === undefined)
  const grantOf = (tool: Tool, network?: BoxNetwork): Grant => ({
    permissions: permissionsOf(tool),
    readable: readableOf(tool),
    limits: { ...boxLimitsOf(tool), ...tool.limits },
    ...network && { network },
    ...tool.unixSockets === true && { unixSockets: true }
  })
  const hostBox = ({ run }: Tool, grant: Grant): HostBox | undefined => foundation === undefined || !pythonBoxed || run.kind !== 'python' ? undefined : createHostBox(foundation, grant)
  return {
    report,
    groups,
    networks,
    boxOf (tool, session, network) {
      if (foundation === undefined || !isBoxed(tool) || tool.run.kind === 'python') return undefined
      return createBox(foundation, grantOf(tool, network), session?.dir)
    },
    plainBox: foundation && createBox(foundation, { permissions: [], readable: [], limits: defaultLimits }),
    hostBoxOf: (tool, network) => hostBox(tool, grantOf(tool, network)),
    tryBoxOf: tool => hostBox(tool, withoutNetwork(grantOf(tool))),
    permissionsOf,
    launcher,
    levelOf: tool => isBoxed(tool) && (pythonBoxed || tool.run.kind !== 'python') ? report.level : 'none',
    stateOf (tool) {
      if (!isBoxed(tool)) return undefined
      if (tool.run.kind !== 'python') return { level: report.level, missing: report.missing.filter(layer => layer !== 'python') }
      return pythonBoxed ? { level: report.level, missing: report.missing } : { level: 'none', missing: [...sandboxLayers, boundLayer] }
    },
    close
  }
}

interface Bounds {
  groups?: ProcessGroups
  finding?: LayerFinding
}

/** Memory that no tool gets, for the worker and what runs beside it: a quarter, at most so many bytes. */
const mostOwn = 512 * 2 ** 20

function openGroups ({ workers, ...limits }: SandboxOptions['groups'] = { workers: 0 }): Bounds {
  const hierarchy = findHierarchy()
  if (hierarchy === undefined) return { finding: { layer: boundLayer, holds: false, detail: unbound('there are none') } }
  // Who started it with a channel is the supervisor of workers, or `toolyard start`.
  const service = process.connected ? process.ppid : process.pid
  try {
    const memory = memoryBound(hierarchy)
    const forTools = workers === 0 ? {} : { memoryBytes: Math.floor((memory - Math.min(memory / 4, mostOwn)) / workers) }
    const groups = openToolGroups(hierarchy, { ...limits, ...forTools, ofCall: defaultLimits.processes }, service)
    return { groups, finding: { layer: boundLayer, holds: true, detail: `holds (version ${hierarchy.version})` } }
  } catch (error) {
    return { finding: { layer: boundLayer, holds: false, detail: unbound(asError(error).message) } }
  }
}

function unbound (why: string): string {
  return `${withoutGroups}. A systemd unit with Delegate=memory pids cpu gives them (${why})`
}

function networkMeans (foundation: BoxFoundation, env: NodeJS.ProcessEnv): NetworkMeans {
  const path = env['PATH']
  const nsenter = findOnPath('nsenter', path) ?? 'nsenter'
  let proof: Promise<LayerFinding> | undefined
  const means: Omit<NetworkMeans, 'prove'> = {
    placeOf: network => networkPlaceOf(foundation, path, network),
    enter: owner => [nsenter, '--preserve-credentials', '--user', '--net', '--target', String(owner), '--'],
    directory: foundation.directory
  }
  const boxIn = (network: BoxNetwork): Box => createBox(foundation, { permissions: ['read_repo'], readable: [], limits: defaultLimits, network })
  return {
    ...means,
    async prove () {
      proof ??= probeEgress({ means, boxIn, env, cwd: foundation.workspaceDir })
      const { holds, detail } = await proof
      return holds ? undefined : detail
    }
  }
}

/** Only one built-in tool starts processes. */
function isBoxed ({ run, jobType }: Tool): boolean {
  return run.kind === 'command' || run.kind === 'skill' || run.kind === 'skill-command' || run.kind === 'skill-run' || run.kind === 'python' || (run.kind === 'mcp' && run.server.connection.kind === 'stdio') || (run.kind === 'builtin' && jobType === 'tool.exec')
}

interface Opened {
  foundation?: BoxFoundation
  launcher?: Launcher
  networks?: NetworkMeans
  report: SandboxReport
}

/** Without a box that runs at all, there is nothing to keep. */
async function openFoundation (options: SandboxOptions, groups: ProcessGroups | undefined): Promise<Opened> {
  closeStrayDescriptors()
  const [bubblewrap, family] = await Promise.all([findBubblewrap(options.env), findFamily(options.env)])
  if (bubblewrap === undefined) {
    return { report: reportOf([{ layer: 'bubblewrap', holds: false, detail: noBubblewrap }]) }
  }
  // A kernel or container may refuse what the program knows; the seccomp filter refuses user namespaces as well.
  const programs = bubblewrap.disableUserns ? [bubblewrap, { ...bubblewrap, disableUserns: false }] : [bubblewrap]
  const families = family === noFamily ? [family] : [family, noFamily]
  let report = reportOf([])
  for (const means of families.flatMap(family => programs.map(program => ({ bubblewrap: program, family })))) {
    const foundation = await makeFoundation(means, options)
    const launcher = createLauncher(placeOf(foundation), groups)
    const networks = networkMeans(foundation, options.env)
    // Beside each other: they mostly wait for processes.
    const [box, python, egress] = await Promise.all([
      probeBox(foundation, launcher, options.env), proveBoxedPython(foundation, options), proveNetworks(networks, options)
    ])
    const findings = withSearch(box)
    report = reportOf([
      ...findings.map(finding => withFamily(finding, means.family)), ...reportOf(findings).level === 'none' ? [] : [python, egress]
    ])
    if (report.level !== 'none') return { foundation, launcher, networks, report }
    await launcher.close()
    closeFoundation(foundation)
  }
  return { report }
}

/** Nothing but a namespace around all boxes of a worker ends one that was being built when the worker was killed. */
function withFamily (finding: LayerFinding, family: Family): LayerFinding {
  if (family !== noFamily || finding.layer !== 'descendants' || !finding.holds) return finding
  return { ...finding, holds: false, detail: 'there is no pid namespace around boxes (unshare of util-linux): what a killed worker was starting may outlive it' }
}

/** Searches of the built-in tools run outside of every box. */
function withSearch (findings: readonly LayerFinding[]): LayerFinding[] {
  const seen = probeSearch()
  return findings.map(finding => seen === undefined || finding.layer !== 'files' || !finding.holds ? finding : { ...finding, holds: false, detail: seen })
}

/** Where no tool names its hosts, the layer counts as holding. */
async function proveNetworks (means: NetworkMeans, { networks = false }: SandboxOptions): Promise<LayerFinding> {
  if (!networks) return { layer: 'egress', holds: true, detail: 'there are no tools that name their hosts' }
  const gap = await means.prove()
  return { layer: 'egress', holds: gap === undefined, detail: gap ?? 'holds' }
}

/** Proves that calls of Python tools are shut in. Where there are no Python tools, the layer counts as holding. */
async function proveBoxedPython (foundation: BoxFoundation, { env, python = false }: SandboxOptions): Promise<LayerFinding> {
  if (!python) return { layer: 'python', holds: true, detail: 'there are no Python tools' }
  const grant = withoutNetwork({ permissions: ['read_repo', 'network'], readable: [], limits: defaultLimits })
  return await probePython(
    ({ workspace, hidden }) => createHostBox({ ...foundation, workspaceDir: workspace, hidden: [...foundation.hidden, ...hidden] }, grant),
    env
  )
}

/** A manifest's `tools/` beside it, or the whole directory of a skill: what a tool's program may need of its own. */
function readableOf ({ source, run }: Tool): string[] {
  const directory = dirname(source.file)
  if (source.format === 'skill') return [directory]
  const tools = join(directory, 'tools')
  // Its program is often node or npx, and what it runs an argument.
  if (run.kind === 'mcp') return [tools]
  return run.kind === 'command' && isWithin(run.program, tools) ? [tools] : []
}
