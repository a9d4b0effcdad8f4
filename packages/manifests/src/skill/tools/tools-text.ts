import { isRecord } from '@toolyard/contract/terms'
import { Pointer } from 'typebox/schema'
import { duplicateKeys } from '../../document/duplicate-keys.ts'
import { ManifestFault, type DocumentPath, type FaultPlace } from '../../finding/finding.ts'
import { parseManifest, refuseDeep } from '../../document/manifest-file.ts'
import { unknownFieldFix, unknownKindFix } from './unknown-fields.ts'
import { shapeFaults, type ShapeFault } from './shape.ts'
import { ToolsFile } from './tools-file.ts'

/** A `tools.json` after reading. */
export interface ToolsReading {
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
  const faults = [...doubles, ...shapeFaults(ToolsFile, value).map(fault => manifestFault(fault, value))]
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
  const path: DocumentPath = pointer.split('/').slice(1).map(part => /^\d+$/.test(part) ? Number(part) : part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const [list, index] = path
  if ((list !== 'tools' && list !== 'execution') || typeof index !== 'number') return { path }
  const entries = isRecord(value) ? value[list] : undefined
  const entry: unknown = Array.isArray(entries) ? entries[index] : undefined
  const tool = isRecord(entry) ? entry[list === 'tools' ? 'name' : 'tool'] : undefined
  return { path, ...list === 'tools' && { index }, ...typeof tool === 'string' && { tool } }
}
