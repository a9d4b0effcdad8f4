import { goQuote } from '../finding/go-quote.ts'
import type { Finding } from '../finding/finding.ts'
import type { Layer, SwitchEntry, ToolEntry } from '../layer/layer.ts'
import type { Tool, ToolSource } from '../tool/tool.ts'

/** One layer's change of a name; data for `toolyard tools --explain NAME`. */
export interface LayerStep {
  /** Place of the manifest in `TOOL_MANIFESTS`, from 0; absent for the built-in tools. */
  layer?: number
  /** Absolute path of the manifest, `builtin` for the built-in tools. */
  file: string
  /** Place in the manifest's list of tools, from 0. */
  index: number
  /** Absent for a switch, whose manifest declares no tool of the name. */
  format?: ToolSource['format']
  /** `refused`: an earlier declaration stays. */
  did: 'declared' | 'replaced' | 'refused' | 'switched on' | 'switched off' | 'switched nothing' | 'left out'
  /** Why it was left out. */
  because?: string
}

/** Tools by name, in the order of publication, and what merging found. */
export interface Merged {
  tools: ReadonlyMap<string, Tool>
  /** By name, in the order of layers; also of names that have no tool. */
  steps: ReadonlyMap<string, readonly LayerStep[]>
  findings: readonly Finding[]
}

interface Merging {
  tools: Map<string, Tool>
  builtinNames: ReadonlySet<string>
}

type Outcome = Pick<LayerStep, 'did'> & { finding?: Finding }

/**
 * Merges the built-in tools and the layers, in order.
 *
 * A later declaration replaces an earlier one as a whole and keeps its place; a switch changes only `enabled`. A
 * built-in tool is replaced only by an entry with `"override": true`; switching it off needs nothing more. A tool that
 * can't run never replaces one that can, and a tool of an MCP server none of its own manifest.
 */
export function mergeLayers (builtins: readonly Tool[], layers: readonly Layer[]): Merged {
  const merging: Merging = {
    tools: new Map(builtins.map(tool => [tool.name, tool])), builtinNames: new Set(builtins.map(({ name }) => name))
  }
  const steps = new Map<string, LayerStep[]>()
  const findings: Finding[] = []
  const note = (name: string, step: LayerStep): void => {
    const known = steps.get(name)
    if (known === undefined) steps.set(name, [step])
    else known.push(step)
  }
  for (const { name, source } of builtins) note(name, { ...source, did: 'declared' })
  for (const [layer, { entries, leftOut = [] }] of layers.entries()) {
    for (const { name, source, because } of leftOut) note(name, { layer, ...source, did: 'left out', because })
    for (const entry of entries) {
      const { did, finding } = entry.kind === 'switch' ? applySwitch(entry, merging) : applyTool(entry, merging)
      if (entry.kind === 'switch') note(entry.name, { layer, file: entry.file, index: entry.index, did })
      else note(entry.tool.name, { layer, ...entry.tool.source, did })
      if (finding !== undefined) findings.push(finding)
    }
  }
  return { tools: merging.tools, steps, findings }
}

function applySwitch ({ name, enabled, file, index }: SwitchEntry, { tools }: Merging): Outcome {
  const tool = tools.get(name)
  if (tool !== undefined) {
    tools.set(name, { ...tool, enabled })
    return { did: enabled ? 'switched on' : 'switched off' }
  }
  return {
    did: 'switched nothing',
    finding: {
      severity: 'warning',
      file,
      rule: 'X14',
      index,
      tool: name,
      message: `tool[${index}] ${goQuote(name)}: no earlier manifest declares a tool of this name to switch ${enabled ? 'on' : 'off'}`,
      fix: 'Correct the name, or list this manifest after the one that declares the tool.'
    }
  }
}

function applyTool ({ tool, override }: ToolEntry, { tools, builtinNames }: Merging): Outcome {
  const earlier = tools.get(tool.name)
  const { file, index } = tool.source
  const place = { file, index, tool: tool.name }
  const says = `tool[${index}] ${goQuote(tool.name)}: `
  if (builtinNames.has(tool.name) && !override) {
    return {
      did: 'refused',
      finding: { ...place, severity: 'error', rule: 'X13', message: `${says}is the name of a built-in tool, which stays`, fix: 'Rename the tool, or add "override": true to replace the built-in one.' }
    }
  }
  // What a server lists is no word of the operator.
  if (earlier?.source.file === file && tool.run.kind === 'mcp') {
    return {
      did: 'refused',
      finding: { ...place, severity: 'error', rule: 'A32', message: `${says}is the name of another tool of this manifest, which stays`, fix: 'Give the server another "prefix", or leave its tool out ("tools": ["!NAME"]).' }
    }
  }
  if (earlier !== undefined && earlier.unavailable === undefined && tool.unavailable !== undefined) {
    return {
      did: 'refused',
      finding: { ...place, severity: 'warning', rule: 'X16', message: `${says}cannot run, so ${originOf(earlier)} stays`, fix: 'Mend this tool, or remove it.' }
    }
  }
  tools.set(tool.name, tool)
  if (earlier === undefined) return { did: 'declared' }
  return {
    did: 'replaced',
    finding: { ...place, severity: 'warning', rule: 'X13', message: `${says}replaces ${originOf(earlier)}`, fix: 'Nothing, when this is meant; else rename one of the two.' }
  }
}

function originOf ({ source }: Tool): string {
  return source.format === 'builtin' ? 'the built-in tool' : `the one of ${source.file}`
}
