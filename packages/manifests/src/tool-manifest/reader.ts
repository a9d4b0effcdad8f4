import { realpath, stat } from 'node:fs/promises'
import { dirname, resolve, sep } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { placeOf } from '../document/place.ts'
import type { Layer, LayerEntry, ManifestText } from '../layer.ts'
import type { PythonRun, Tool } from '../tool.ts'
import { classFault } from './class-check.ts'
import { readEntry } from './entry.ts'
import { FindingList, type Remark } from './finding-list.ts'
import { readHeader } from './header.ts'
import { ModuleFault } from './module-name.ts'
import { createModuleFinder, type ModuleFinder } from './python-root.ts'

const writableByOthers = 0o002

/**
 * Reads a tool manifest (P1 to P33, PC1 to PC17). Each entry is skipped or served by itself; all that is wrong is found
 * (PC6). No Python runs.
 *
 * @throws ManifestFault when nothing of it can be served.
 */
export async function readToolManifest (manifest: ManifestText): Promise<Layer> {
  const { file, schemas, duplicates } = manifest
  const findings = new FindingList(file)
  const header = readHeader(manifest, findings)
  const modules = createModuleFinder(dirname(file))
  const entries: LayerEntry[] = []
  const files = new Set<string>()
  const names = new Set<string>()
  for (const [index, value] of header.tools.entries()) {
    const reading = readEntry(value, { file, index, schemas })
    const faults = [...duplicateRemarks(duplicates, index), ...nameRemarks(value, index, names)]
    findings.add(...faults, ...reading.findings)
    if (reading.entry === undefined || faults.length > 0) continue
    if (reading.entry.kind === 'switch') {
      entries.push(reading.entry)
      continue
    }
    const placed = await place(reading.entry.tool, pythonRootOf(value) ?? header.pythonRoot, modules)
    findings.add(...placed.findings)
    if (placed.file !== undefined) files.add(placed.file)
    entries.push({ ...reading.entry, tool: placed.tool })
    // Judging patterns takes milliseconds each: a long manifest must not hold up a process that serves.
    await setImmediate()
  }
  return { entries, findings: findings.all(), files: [...files] }
}

function duplicateRemarks (duplicates: ManifestText['duplicates'], index: number): Remark[] {
  return duplicates.filter(({ path }) => path[0] === 'tools' && path[1] === index).map(({ path, line, column }) => ({
    severity: 'error', rule: 'P8', index, path, line, column, message: `${placeOf(path)} stands twice`, fix: 'Remove one of the two.'
  }))
}

/** A name counts as taken even when the entry that has it first is broken: which one was meant can't be known (PC11). */
function nameRemarks (entry: unknown, index: number, names: Set<string>): Remark[] {
  const name: unknown = typeof entry === 'object' && entry !== null && 'name' in entry ? entry.name : undefined
  if (typeof name !== 'string') return []
  if (!names.has(name)) {
    names.add(name)
    return []
  }
  return [{ severity: 'error', rule: 'P13', index, tool: name, path: ['tools', index, 'name'], message: `Duplicate tool name detected: ${name}`, fix: 'Rename or remove one of the two.' }]
}

function pythonRootOf (entry: unknown): string | undefined {
  const root: unknown = typeof entry === 'object' && entry !== null && 'python_root' in entry ? entry.python_root : undefined
  return typeof root === 'string' ? root : undefined
}

/** Finds the module of a tool on disk (P29). What can't be imported from there is not available (X16). */
async function place (tool: Tool, pythonRoot: string | undefined, modules: ModuleFinder): Promise<{ tool: Tool, file?: string, findings: Remark[] }> {
  const run = tool.run as PythonRun
  const { index } = tool.source
  const remark = (severity: Remark['severity'], rule: string, message: string, fix: string): Remark =>
    ({ severity, rule, index, tool: tool.name, path: ['tools', index, rule === 'P29' ? 'module' : 'class_name'], message: `tools[${index}].${message}`, fix })
  try {
    const { root, module, file } = await modules.find(run.module, pythonRoot)
    const placed: Tool = { ...tool, run: { ...run, root, module } }
    const fault = await classFault(file, run.className)
    if (fault !== undefined) {
      return { tool: { ...placed, unavailable: fault }, file, findings: [remark('error', run.className === undefined ? 'P17' : 'P16', fault, `Correct class_name, or the class in ${file}.`)] }
    }
    const trust = await trustFault(root, file)
    return { tool: placed, file, findings: trust === undefined ? [] : [remark('warning', 'P29', `module ${trust}`, 'Keep the sources of tools below their Python root, writable by their owner alone.')] }
  } catch (error) {
    if (!(error instanceof ModuleFault)) throw error
    const fault = `module import failed (${error.message})`
    const findings = [remark('error', 'P29', fault, 'Correct the path, or set python_root to the directory that the module is imported from.')]
    const root = resolve(dirname(tool.source.file), pythonRoot ?? '.')
    return { tool: { ...tool, run: { ...run, root }, unavailable: fault }, findings }
  }
}

/** Sources that others than the owner of the tools decide about. */
async function trustFault (root: string, file: string): Promise<string | undefined> {
  try {
    const real = await realpath(file)
    if (!real.startsWith(`${(await realpath(root)).replace(/\/$/, '')}${sep}`)) return `is a symbolic link out of the Python root (${file})`
    return ((await stat(file)).mode & writableByOthers) !== 0 ? `may be replaced by anyone on this machine (${file})` : undefined
  } catch {
    return `cannot be looked up any more (${file})`
  }
}
