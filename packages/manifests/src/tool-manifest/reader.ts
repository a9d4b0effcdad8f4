import { dirname } from 'node:path'
import { grouped } from '@toolyard/contract/terms'
import { createPause } from '../document/pause.ts'
import { placeOf } from '../document/place.ts'
import { wholeFinding, type ManifestFault } from '../finding/finding.ts'
import type { Layer, LayerEntry, ManifestText } from '../layer/layer.ts'
import { readEntry } from './entry.ts'
import { FindingList, type Remark } from '../finding/finding-list.ts'
import { readHeader } from './header.ts'
import { placeTools, type UnplacedEntry } from './placement.ts'
import { createModuleFinder } from './python-root.ts'

/**
 * Reads a tool manifest. Each entry is skipped or served by itself; all that is wrong is found. No Python runs.
 *
 * @throws ManifestFault when nothing of it can be served.
 */
export async function readToolManifest (manifest: ManifestText): Promise<Layer> {
  const { file, schemas, duplicates } = manifest
  const findings = new FindingList(file)
  const faults: ManifestFault[] = []
  const header = readHeader(manifest, findings, faults)
  const [first] = faults
  if (first !== undefined && !manifest.everyFault) return { entries: [], findings: [wholeFinding(first, file)] }
  findings.add(faults.map(fault => wholeFinding(fault, file)))
  const names = new Set<string>()
  const twice = grouped(duplicates, ({ path: [list, index] }) => list === 'tools' ? index : undefined)
  const pause = createPause()
  const switches: LayerEntry[] = []
  const unplaced: UnplacedEntry[] = []
  for (const [index, value] of header.tools.entries()) {
    const { entry, findings: own } = await readEntry(value, { file, index, schemas })
    const faults = [...duplicateRemarks(twice.get(index) ?? [], index), ...nameRemarks(value, index, names)]
    findings.add([...faults, ...own])
    if (faults.length === 0 && entry?.kind === 'switch') switches.push(entry)
    if (faults.length === 0 && entry?.kind === 'tool') unplaced.push({ entry, pythonRoot: pythonRootOf(value) ?? header.pythonRoot })
    // Judging patterns takes milliseconds each: a long manifest must not hold up a process that serves.
    await pause()
  }
  const placed = await placeTools(unplaced, createModuleFinder(dirname(file)))
  for (const placement of placed) findings.add(placement.findings)
  return {
    // Names are unique, so the order between tools and switches doesn't matter.
    entries: first !== undefined ? [] : [...placed.map(({ tool }, at): LayerEntry => ({ kind: 'tool', tool, override: unplaced[at]?.entry.override ?? false })), ...switches],
    findings: findings.all(),
    files: [...new Set(placed.flatMap(({ files }) => files))]
  }
}

function duplicateRemarks (duplicates: ManifestText['duplicates'], index: number): Remark[] {
  return duplicates.map(({ path, line, column }) => ({
    severity: 'error', rule: 'P8', index, path, line, column, message: `${placeOf(path)} stands twice`, fix: 'Remove one of the two.'
  }))
}

/** A name counts as taken even when the entry that has it first is broken: which one was meant can't be known. */
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
