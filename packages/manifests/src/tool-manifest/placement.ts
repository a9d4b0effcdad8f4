import { realpath } from 'node:fs/promises'
import { dirname, resolve, sep } from 'node:path'
import type { ToolEntry } from '../layer/layer.ts'
import type { Tool } from '../tool/tool.ts'
import { classFault } from './class-check.ts'
import type { Remark } from '../finding/finding-list.ts'
import { isOtherThanPinned } from '../program/pin.ts'
import { createTrustCheck, type TrustCheck } from '../program/trust.ts'
import { ModuleFault } from './module-name.ts'
import type { ModuleFinder } from './python-root.ts'

/** A tool that knows where its module is. */
interface Placement {
  tool: Tool
  /** Absolute path of the module's source; of all that would be it, when none was found. */
  files: readonly string[]
  findings: Remark[]
}

/** An entry whose module is still to be found, and the `python_root` that counts for it. */
export interface UnplacedEntry {
  entry: ToolEntry
  pythonRoot: string | undefined
}

/** Modules that are looked for together; each look is a few calls of the file system. */
const batchSize = 32

/** Finds the modules of tools on disk, in the order of the entries. */
export async function placeTools (entries: readonly UnplacedEntry[], modules: ModuleFinder): Promise<Placement[]> {
  const placements: Placement[] = []
  const trustCheck = createTrustCheck()
  for (let start = 0; start < entries.length; start += batchSize) {
    placements.push(...await Promise.all(
      entries.slice(start, start + batchSize).map(({ entry, pythonRoot }) => placeTool(entry.tool, pythonRoot, { modules, trustCheck }))
    ))
  }
  return placements
}

/** Finds the module of a tool on disk. What can't be imported from there is not available. */
async function placeTool (
  tool: Tool, pythonRoot: string | undefined, { modules, trustCheck }: { modules: ModuleFinder, trustCheck: TrustCheck }
): Promise<Placement> {
  const { run, source: { index } } = tool
  if (run.kind !== 'python') return { tool, files: [], findings: [] }
  const remark = (severity: Remark['severity'], rule: string, message: string, fix: string): Remark =>
    ({ severity, rule, index, tool: tool.name, path: ['tools', index, rule === 'P29' ? 'module' : 'class_name'], message: `tools[${index}].${message}`, fix })
  try {
    const { root, module, file } = await modules.find(run.module, pythonRoot)
    const placed: Tool = { ...tool, run: { ...run, root, module, ...run.pin !== undefined && { pin: { ...run.pin, file } } } }
    const fault = await classFault(file, run.className)
    if (fault !== undefined) {
      return { tool: { ...placed, unavailable: fault }, files: [file], findings: [remark('error', run.className === undefined ? 'P17' : 'P16', fault, `Correct class_name, or the class in ${file}.`)] }
    }
    const trust = await trustFinding(root, file, trustCheck)
    const findings = trust === undefined ? [] : [{ ...remark('warning', 'P29', `module ${trust.says}`, 'Keep the sources of tools below their Python root, writable by their owner alone.'), ...trust.untrusted && { untrusted: true as const } }]
    if (run.pin !== undefined && await isOtherThanPinned(file, run.pin.sha256)) {
      findings.push({ ...remark('warning', 'fault 48', `sha256 pins another file than ${file}, which is not run`, 'Look at what changed it; when it was you, write what sha256sum prints.'), nonconforming: true })
    }
    return { tool: placed, files: [file], findings }
  } catch (error) {
    if (!(error instanceof ModuleFault)) throw error
    const fault = `module import failed (${error.message})`
    const findings = [remark('error', 'P29', fault, 'Correct the path, or set python_root to the directory that the module is imported from.')]
    const root = resolve(dirname(tool.source.file), pythonRoot ?? '.')
    return { tool: { ...tool, run: { ...run, root }, unavailable: fault }, files: error.missing, findings }
  }
}

/** Sources that others than the owner of the tools decide about. */
async function trustFinding (
  root: string, file: string, trustCheck: TrustCheck
): Promise<{ says: string, untrusted: boolean } | undefined> {
  try {
    const real = await realpath(file)
    if (!real.startsWith(`${(await realpath(root)).replace(/\/$/, '')}${sep}`)) return { says: `is a symbolic link out of the Python root (${file})`, untrusted: false }
    const open = await trustCheck(file)
    return open === undefined ? undefined : { says: `may be replaced by others than its owner, who may write to ${open}`, untrusted: true }
  } catch {
    return { says: `cannot be looked up any more (${file})`, untrusted: false }
  }
}
