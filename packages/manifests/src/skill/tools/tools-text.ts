import { isRecord, nearName, pointerName } from '@toolyard/contract/terms'
import { Pointer } from 'typebox/schema'
import { duplicateKeys } from '../../document/duplicate-keys.ts'
import { ManifestFault, type DocumentPath, type FaultPlace } from '../../finding/finding.ts'
import { parseManifest, refuseDeep } from '../../document/manifest-file.ts'
import { shapeFaults, type ShapeFault } from './shape.ts'
import { ToolsFile } from './tools-file.ts'

/** Fields and kinds of the form with three files. */
const ofThreeFiles = new Set([
  'readPath', 'writePath', 'unsafePath', 'denyPattern', 'denyAlwaysResolve', 'denyResolveCommand', 'optional', 'absentDefault', 'split', 'value',
  'subcommandOverride', 'disambiguateAfterSkippedPositionals', 'successExitCodes', 'postProcess', 'sideRead', 'hintConditions', 'maxOutputLines',
  'truncationHint', 'binaryWrapper', 'condition', 'paramCondition', 'stdin', 'workingdir', 'tempfile', 'literal'
])

const fix = 'It is of the form with three files: make tools.json the list of the tools, and put allowlist.json and execution.json beside it (docs/skills.md).'

interface ToolsReading {
  /** Absent when there is a fault: nothing of it is used, then. */
  contents?: ToolsFile
  /** All of them; the first one decides. */
  faults: ManifestFault[]
}

/** Reads the text of a skill's `tools.json`; a key that stands twice is a fault, too. */
export async function readToolsFile (text: string): Promise<ToolsReading> {
  let value: unknown
  try {
    value = await parseManifest(text)
    refuseDeep(value)
  } catch (error) {
    if (!(error instanceof ManifestFault)) throw error
    return { faults: [new ManifestFault('S38', error.message, error.place)] }
  }
  const doubles = (await duplicateKeys(text)).map(({ path, line, column }) => (
    new ManifestFault('SC1', `duplicate field \`${path.at(-1)}\` at line ${line} column ${column}`, { path, line, column, fix: 'Remove one of the two.' })
  ))
  const faults = [...doubles, ...(await shapeFaults(ToolsFile, value)).map(fault => manifestFault(fault, value))]
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- `shapeFaults` has checked it.
  return faults.length > 0 ? { faults } : { contents: value as ToolsFile, faults }
}

function manifestFault ({ path, message, keyword, name, known = [] }: ShapeFault, value: unknown): ManifestFault {
  const isKind = keyword === 'enum' && path.endsWith('/kind')
  const fix = name !== undefined ? unknownFieldFix(name, known) : isKind ? unknownKindFix(Pointer.Get(value, path), known) : 'Correct the value.'
  return new ManifestFault(isKind ? 'SC2' : 'SC1', message, { ...faultPlace(path, value), fix })
}

/** Where it is in the document, and the tool that it is about, as far as it can be known. */
function faultPlace (pointer: string, value: unknown): FaultPlace {
  const path: DocumentPath = pointer.split('/').slice(1).map(part => /^\d+$/.test(part) ? Number(part) : pointerName(part))
  const [list, index] = path
  if ((list !== 'tools' && list !== 'execution') || typeof index !== 'number') return { path }
  const entries = isRecord(value) ? value[list] : undefined
  const entry: unknown = Array.isArray(entries) ? entries[index] : undefined
  const tool = isRecord(entry) ? entry[list === 'tools' ? 'name' : 'tool'] : undefined
  return { path, ...list === 'tools' && { index }, ...typeof tool === 'string' && { tool } }
}

/** For a field that the format doesn't have. */
function unknownFieldFix (name: string, known: readonly string[]): string {
  if (ofThreeFiles.has(name)) return fix
  const near = nearName(name, known)
  return near === undefined ? 'Remove the field, or correct its name: names are camelCase.' : `Write ${near}.`
}

/** For a kind of argument that the format doesn't have. */
function unknownKindFix (kind: unknown, known: readonly string[]): string {
  if (typeof kind !== 'string') return 'Leave kind out, or name one.'
  if (ofThreeFiles.has(kind)) return fix
  const near = nearName(kind, known)
  return near === undefined ? `Write one of ${known.join(', ')}.` : `Write ${near}.`
}
