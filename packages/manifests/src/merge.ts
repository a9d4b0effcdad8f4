import { goQuote } from './go-quote.ts'
import type { Finding } from './finding.ts'
import type { Layer, SwitchEntry, ToolEntry } from './layer.ts'
import type { Tool } from './tool.ts'

/** Tools by name, in the order of publication, and what merging found. */
export interface Merged {
  tools: ReadonlyMap<string, Tool>
  findings: readonly Finding[]
}

/**
 * Merges the built-in tools and the layers, in order (X13, X14).
 *
 * A later declaration replaces an earlier one as a whole and keeps its place; a switch changes only `enabled`. A
 * built-in tool is replaced only by an entry with `"override": true`; switching it off needs nothing more.
 */
export function mergeLayers (builtins: readonly Tool[], layers: readonly Layer[]): Merged {
  const tools = new Map(builtins.map(tool => [tool.name, tool]))
  const builtinNames: ReadonlySet<string> = new Set(tools.keys())
  const findings: Finding[] = []
  for (const entry of layers.flatMap(layer => layer.entries)) {
    const finding = entry.kind === 'switch' ? applySwitch(entry, tools) : applyTool(entry, tools, builtinNames)
    if (finding !== undefined) findings.push(finding)
  }
  return { tools, findings }
}

function applySwitch ({ name, enabled, file, index }: SwitchEntry, tools: Map<string, Tool>): Finding | undefined {
  const tool = tools.get(name)
  if (tool !== undefined) {
    tools.set(name, { ...tool, enabled })
    return undefined
  }
  return {
    severity: 'warning',
    file,
    rule: 'X14',
    index,
    tool: name,
    message: `tool[${index}] ${goQuote(name)}: no earlier manifest declares a tool of this name to switch ${enabled ? 'on' : 'off'}`,
    fix: 'Correct the name, or list this manifest after the one that declares the tool.'
  }
}

function applyTool ({ tool, override }: ToolEntry, tools: Map<string, Tool>, builtinNames: ReadonlySet<string>): Finding | undefined {
  const earlier = tools.get(tool.name)
  const { file, index } = tool.source
  const place = { file, rule: 'X13', index, tool: tool.name }
  if (builtinNames.has(tool.name) && !override) {
    return {
      ...place,
      severity: 'error',
      message: `tool[${index}] ${goQuote(tool.name)}: is the name of a built-in tool, which stays`,
      fix: 'Rename the tool, or add "override": true to replace the built-in one.'
    }
  }
  tools.set(tool.name, tool)
  if (earlier === undefined) return undefined
  const origin = earlier.source.format === 'builtin' ? 'the built-in tool' : `the one of ${earlier.source.file}`
  return {
    ...place,
    severity: 'warning',
    message: `tool[${index}] ${goQuote(tool.name)}: replaces ${origin}`,
    fix: 'Nothing, when this is meant; else rename one of the two.'
  }
}
