import type { Finding } from '../finding/finding.ts'
import type { Layer, LayerEntry } from '../layer/layer.ts'
import type { Tool } from '../tool/tool.ts'

/** Why the module of a Python tool can't be loaded, or has no class, or why its class can't be constructed. */
export interface ImportFault {
  tool: Tool
  what: 'module' | 'class' | 'construction'
  reason: string
  /** The Python that tried it: its path. */
  python?: string
  /** It was tried without the network, which its calls have, and may work for them. */
  lacksNetwork?: boolean
}

/** A Python tool as one layer declares it, whether or not a later layer replaces it. */
export interface ImportedTool {
  /** Names the declaration: the same in all processes that have the same manifests, wherever these lie. */
  key: string
  tool: Tool
}

/** Faults of imports, by the key of the declaration. */
export type ImportFaults = ReadonlyMap<string, Pick<ImportFault, 'what' | 'reason' | 'python'>>

/**
 * The Python tools that can be imported, as far as their manifests tell, and are not switched off
 * where they are declared; also those that can't run, where somebody wants them.
 */
export function importedTools (layers: readonly Layer[], evenSo: (tool: Tool) => boolean = () => false): ImportedTool[] {
  return layers.flatMap(({ entries }, layer) => entries.flatMap(entry => {
    const key = keyOf(entry, layer)
    return key === undefined || entry.kind === 'switch' || (entry.tool.unavailable !== undefined && !evenSo(entry.tool)) || !entry.tool.enabled ? [] : [{ key, tool: entry.tool }]
  }))
}

/** The layers with every tool marked that can't be imported, and a finding for each. */
export function markImportFaults (layers: readonly Layer[], faults: ImportFaults): Layer[] {
  if (faults.size === 0) return [...layers]
  return layers.map((layer, at) => {
    const findings: Finding[] = []
    const entries = layer.entries.map(entry => {
      const fault = faults.get(keyOf(entry, at) ?? '')
      if (fault === undefined || entry.kind === 'switch' || entry.tool.unavailable !== undefined) return entry
      const finding = importFinding({ tool: entry.tool, ...fault })
      findings.push(finding)
      return { ...entry, tool: { ...entry.tool, unavailable: finding.message } }
    })
    return findings.length === 0 ? layer : { ...layer, entries, findings: [...layer.findings, ...findings] }
  })
}

/** In the words of the format's validator where it has any. */
export function importFinding ({ tool, what, reason, python, lacksNetwork = false }: ImportFault): Finding {
  const { name, run, source: { file, index } } = tool
  const className = run.kind === 'python' ? run.className : undefined
  const field = what === 'module' || className === undefined ? 'module' : 'class_name'
  const severity = lacksNetwork ? 'warning' as const : 'error' as const
  const place = { severity, file, index, tool: name, path: ['tools', index, field] }
  const at = `tools[${index}].`
  if (lacksNetwork) return { ...place, rule: 'P29', message: `${at}module can't be tried without the network (${reason})`, fix: 'Connect in execute: a tool that connects before is not known to work until it is called.' }
  if (what === 'module') return { ...place, rule: 'P29', message: `${at}module import failed (${reason})`, fix: moduleFix(reason, python) }
  if (what === 'construction') return { ...place, rule: 'X16', message: `${at}${reason}`, fix: 'Let the class take name, description and config, and leave to execute what may fail.' }
  if (className === undefined) return { ...place, rule: 'P17', message: `${at}no Tool subclass found in module`, fix: 'Declare a class that descends from Tool in the module itself, or write class_name.' }
  const message = reason.includes('not found') ? `${at}class_name '${className}' not found in module` : `${at}class_name '${className}' must inherit from Tool`
  return { ...place, rule: 'P16', message, fix: `Correct class_name, or the class: ${reason}.` }
}

/** Which Python lacks something is what people look for first. */
function moduleFix (reason: string, python: string | undefined): string {
  if (python === undefined) return 'Correct the module, or install what it imports.'
  const [, missing] = /^ModuleNotFoundError: No module named '([\w.-]+)'/.exec(reason) ?? []
  if (missing === undefined) return `Correct the module, or install what it imports for ${python}, which has tried it.`
  const [name = missing] = missing.split('.')
  return `Install it for ${python}, which has tried it: ${python} -m pip install ${name}. Or begin PATH with the bin directory of a virtual environment that has it.`
}

/** Undefined for what imports nothing. */
function keyOf (entry: LayerEntry, layer: number): string | undefined {
  if (entry.kind === 'switch' || entry.tool.run.kind !== 'python') return undefined
  const { name, run, source } = entry.tool
  return JSON.stringify([layer, source.index, name, run.module, run.className ?? null])
}
