import { isRecord } from '@toolyard/contract/terms'
import { Check } from 'typebox/schema'
import { placeOf } from '../document/place.ts'
import { ManifestFault } from '../finding/finding.ts'
import type { ManifestText } from '../layer/layer.ts'
import { ToolManifest } from './definition.ts'
import { fieldFaults } from './field-faults.ts'
import type { FindingList } from '../finding/finding-list.ts'
import { unknownFields } from '../document/unknown-fields.ts'

export interface Header {
  /** Unchecked. */
  tools: readonly unknown[]
  pythonRoot: string | undefined
}

const versionMessage = "schema_version must be '1.0'"

/**
 * Reads everything of a manifest but its tools. `faults` gets what leaves nothing of it to serve. What concerns people
 * alone, the version and the metadata, doesn't keep the tools from being served; `validate` is told to call it an error.
 *
 * @throws ManifestFault for what is no object.
 */
export function readHeader (manifest: ManifestText, findings: FindingList, faults: ManifestFault[]): Header {
  const { value } = manifest
  faults.push(...textFaults(manifest))
  if (!isRecord(value)) throw new ManifestFault('PC8', 'the manifest must be an object', { path: [], fix: 'Write an object with schema_version, metadata and tools.' })
  if (manifest.byteOrderMark && manifest.syntax === 'json') {
    findings.add([{ severity: 'warning', rule: 'PC8', message: 'begins with a byte order mark, which other programs refuse', fix: 'Save it as UTF-8 without one.' }])
  }
  checkVersion(value, findings)
  const metadata = fieldFaults(ToolManifest.properties.metadata, value['metadata'], ['metadata'], 0)
  findings.add(metadata.map(fault => ({ severity: 'warning', nonconforming: true, ...fault })))
  const pythonRoot = value['python_root']
  if (pythonRoot !== undefined && !Check(ToolManifest.properties.python_root, pythonRoot)) {
    faults.push(new ManifestFault('P29', 'python_root must be a non-empty string', { path: ['python_root'], fix: 'Name a directory.' }))
  }
  findings.add(unknownFields(value, { path: [], definition: ToolManifest, all: true }).map(fault => ({ severity: 'warning' as const, ...fault })))
  const { tools } = value
  if (!Array.isArray(tools) || tools.length === 0) {
    findings.add([{ severity: 'error', rule: 'P12', path: ['tools'], message: 'tools must be a non-empty array', fix: 'List at least one tool.' }])
    return { tools: [], pythonRoot: undefined }
  }
  return { tools, pythonRoot: typeof pythonRoot === 'string' ? pythonRoot : undefined }
}

/** A key that stands twice in a tool's entry is that entry's fault; elsewhere nobody can say what was meant. */
function textFaults ({ file, utf8, syntax, duplicates }: ManifestText): ManifestFault[] {
  const doubles = duplicates.filter(({ path }) => !(path[0] === 'tools' && typeof path[1] === 'number'))
  return [
    ...utf8 ? [] : [new ManifestFault('PC2', `Invalid ${syntax.toUpperCase()} in ${file}: not UTF-8`, { fix: 'Save it as UTF-8.' })],
    ...doubles.map(({ path, line, column }) => new ManifestFault('P8', `${placeOf(path)} stands twice`, { path, line, column, fix: 'Remove one of the two.' }))
  ]
}

function checkVersion (manifest: Record<string, unknown>, findings: FindingList): void {
  const version = manifest['schema_version']
  if (Check(ToolManifest.properties.schema_version, version)) return
  const warning = { severity: 'warning' as const, rule: 'X15', path: ['schema_version'], message: versionMessage }
  if (version === 1) findings.add([{ ...warning, fix: 'Write it as a text, in quotes: "1.0". The number is read as such.' }])
  else if (typeof version === 'string' || typeof version === 'number') findings.add([{ ...warning, fix: `Nothing, when this manifest keeps to version 1.0, as which it is read; else it may mean something else here than in version ${String(version).slice(0, 20)}.` }])
  else findings.add([{ ...warning, nonconforming: true, fix: 'Add schema_version: "1.0".' }])
}
