import { isRecord, numberText } from '@toolyard/contract/terms'
import { Type } from '@toolyard/contract/type'
import type { Static, TSchema } from 'typebox'
import { Check, Errors } from 'typebox/schema'
import { createPause } from '../document/pause.ts'
import { knownEntries, perEntry, type EntryMemory } from '../document/known-entries.ts'
import { placeOf } from '../document/place.ts'
import { isLimit, limitNames, limitsOf, limitText } from '../program/limit-fields.ts'
import type { PolicyRule } from '../tool/policy-rule.ts'
import type { ToolLimits } from '../tool/tool.ts'
import { ManifestFault, type DocumentPath } from '../finding/finding.ts'
import { manifestLimits } from '../tool/limits.ts'
import { commonForm } from '../schema/form/common-form.ts'
import { wrongFields } from '../layer/kind-fields.ts'
import { policyFields, rulesOf } from '../schema/policy/definition.ts'
import { AgentcliTool, Warm } from './definition.ts'
import { entryKind } from './entry-kinds.ts'
import { folded } from '../document/folded.ts'

/** One entry of `tools` after its types were checked: absent and null fields have their empty value, as in Go. */
export interface AgentcliEntry {
  name: string
  description: string
  /** Any JSON; undefined when absent. */
  schema: unknown
  /** Undefined when absent. */
  command: string[] | undefined
  timeoutSec: number
  envPassthrough: string[]
  /** Toolyard's own fields. */
  permissions: string[] | undefined
  /** Any JSON; undefined when absent. */
  network: unknown
  unixSockets: boolean | undefined
  /** Any JSON; undefined when absent. */
  secrets: unknown
  limits: ToolLimits | undefined
  warm: number | 'auto' | undefined
  sha256: string | undefined
  /** Any JSON; undefined when absent. */
  publishAs: unknown
  policy: PolicyRule[]
  enabled: boolean | undefined
  disabled: boolean | undefined
  override: boolean
  idempotent: boolean
  asks: boolean
}

type Fields = ReadonlyMap<string, unknown>

interface DecodedManifest {
  /** Undefined for one that has a fault, or is of a kind of its own (`entry-kinds.ts`). */
  entries: ReadonlyArray<AgentcliEntry | undefined>
  /** Whether it has a list of tools, if only an empty one. */
  hasList: boolean
  /** The wrong types, in their order: `parse manifest: …`. */
  faults: readonly ManifestFault[]
  /** As they are written. */
  raw: { manifest: Record<string, unknown>, entries: readonly unknown[] }
}

/**
 * Decodes an agentcli manifest by the rules of Go's `encoding/json`: `null` and absent are the same, names
 * of fields match in any case and the last match wins, unknown fields are ignored. Entry by entry, in parts.
 *
 * @throws ManifestFault `parse manifest: …` when it has no list of entries.
 */
export async function decodeManifest (manifest: unknown, file: string, known: EntryMemory): Promise<DecodedManifest> {
  const fields = manifest === null ? new Map<string, unknown>() : fieldsOf(manifest, [])
  const given = fields.get('tools') ?? undefined
  const tools = given ?? []
  if (!Array.isArray(tools)) throw wrongType(['tools'], 'an array')
  const faults: ManifestFault[] = []
  const entries: Array<AgentcliEntry | undefined> = []
  const pause = createPause()
  const written = await knownEntries(file, tools, known)
  for (const [index, entry] of written.entries()) {
    await pause()
    if (faults.length > manifestLimits.findings) {
      entries.push(undefined)
      continue
    }
    const { decoded, own } = decodedOf(entry, () => readTypes(entry, index))
    faults.push(...own)
    entries.push(decoded)
  }
  return { entries, hasList: given !== undefined, faults, raw: { manifest: isRecord(manifest) ? manifest : {}, entries: written } }
}

interface ReadTypes {
  decoded: AgentcliEntry | undefined
  own: readonly ManifestFault[]
}

const decodedOf = perEntry<ReadTypes>()

function readTypes (entry: unknown, index: number): ReadTypes {
  const own: ManifestFault[] = []
  const decoded = entryKind(entry) === undefined ? attempt(() => decodeEntry(entry, ['tools', index], own), own) : undefined
  return { decoded: own.length === 0 ? decoded : undefined, own }
}

/** Undefined when it is a fault, which `faults` gets. */
export function attempt<T> (read: () => T, faults: ManifestFault[]): T | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ManifestFault)) throw error
    faults.push(error)
    return undefined
  }
}

function decodeEntry (entry: unknown, path: DocumentPath, faults: ManifestFault[]): AgentcliEntry {
  const fields = entry === null ? new Map<string, unknown>() : fieldsOf(entry, path)
  const at = <Name extends keyof AgentcliTool>(name: Name) => decodeField(name, { fields, path, faults })
  const timeoutSec = at('timeoutSec') ?? 0
  if (!Number.isSafeInteger(timeoutSec) || !isWrittenWhole(entry, 'timeoutSec')) faults.push(wrongType([...path, 'timeoutSec'], 'an integer'))
  const decoded = {
    name: at('name') ?? '',
    description: at('description') ?? '',
    // Skills, HTTP entries and providers call it so.
    schema: commonForm(fields.get('schema') ?? fields.get('parameters')),
    command: at('command'),
    timeoutSec,
    envPassthrough: at('envPassthrough') ?? [],
    permissions: at('permissions'),
    network: fields.get('network'),
    unixSockets: at('unixSockets'),
    secrets: fields.get('secrets'),
    limits: attempt(() => decodeLimits(fields, path, faults), faults),
    warm: attempt(() => decodeWarm(fields, path), faults),
    sha256: at('sha256'),
    publishAs: fields.get(folded('publishAs')),
    policy: attempt(() => decodePolicy(fields, path), faults) ?? [],
    enabled: at('enabled'),
    disabled: at('disabled'),
    override: at('override') ?? false,
    idempotent: at('idempotent') ?? false,
    asks: at('asks') ?? false
  }
  // That of an entry without other faults is judged with the schemas, and takes away this entry alone.
  if (faults.length > 0 && decoded.schema !== undefined && !isRecord(decoded.schema)) faults.push(wrongType([...path, 'schema'], 'an object'))
  return decoded
}

/** An integer has no fraction and no exponent, as in Go: `1.0` and `1e1` are none. */
function isWrittenWhole (entry: unknown, field: string): boolean {
  const names = isRecord(entry) ? Object.keys(entry).filter(name => folded(name) === folded(field)) : []
  return !/[.eE]/.test(numberText(entry, names.at(-1) ?? field) ?? '')
}

function decodeLimits (fields: Fields, path: DocumentPath, faults: ManifestFault[]): ToolLimits | undefined {
  const raw = fields.get('limits')
  if (raw === undefined) return undefined
  const written = fieldsOf(raw, [...path, 'limits'])
  return limitsOf(Object.fromEntries(limitNames.map(name => {
    const value = written.get(folded(name))
    if (value !== undefined && !isLimit(name, value)) faults.push(wrongType([...path, 'limits', name], limitText(name).replace(/^must be /, '')))
    return [name, value]
  })))
}

function decodeWarm (fields: Fields, path: DocumentPath): Static<typeof Warm> | undefined {
  const raw = fields.get('warm')
  if (raw === undefined || Check(Warm, raw)) return raw
  throw wrongType([...path, 'warm'], `an integer from 0 to ${manifestLimits.warm}, or "auto"`)
}

function decodePolicy (fields: Fields, path: DocumentPath): PolicyRule[] {
  const written = { policy: fields.get('policy'), approval: fields.get('approval') }
  const [fault] = wrongFields(Type.Object(policyFields), written, { path, rule: 'policy/rule', page: 'docs/approvals.md' })
  if (fault !== undefined) throw new ManifestFault('policy/rule', `parse manifest: ${fault.message}`, { path: fault.path ?? path, ...fault.fix !== undefined && { fix: fault.fix } })
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- `wrongFields` has checked it.
  return rulesOf(written as Parameters<typeof rulesOf>[0])
}

function fieldsOf (value: unknown, path: DocumentPath): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrongType(path, 'an object')
  return new Map(Object.entries(value).filter(([, field]) => field !== null).map(([name, field]) => [folded(name), field]))
}

const typeNames: ReadonlyMap<unknown, string> = new Map([['string', 'a string'], ['array', 'an array of strings'], ['integer', 'an integer'], ['boolean', 'true or false']])

/** Types alone are compared here: what else the definition asks for has texts of its own, which come later. */
function decodeField<Name extends keyof AgentcliTool> (
  name: Name, { fields, path, faults }: { fields: Fields, path: DocumentPath, faults: ManifestFault[] }
): AgentcliTool[Name] | undefined {
  const raw = fields.get(folded(name))
  if (raw === undefined) return undefined
  // `null` inside a list is an empty string, as in Go.
  const value: unknown = Array.isArray(raw) ? raw.map((item: unknown) => item ?? '') : raw
  const definition: TSchema = AgentcliTool.properties[name]
  const errors = Check(definition, value) ? [] : Errors(definition, value)[1].filter(({ keyword }) => keyword === 'type')
  for (const { params, instancePath } of errors) {
    const item = /^\/(\d+)$/.exec(instancePath)?.[1]
    faults.push(wrongType([...path, name, ...item === undefined ? [] : [Number(item)]], typeNames.get('type' in params ? params.type : undefined) ?? 'of another type'))
  }
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- The type is checked above; the rest is judged later.
  return errors.length === 0 ? value as AgentcliTool[Name] : undefined
}

function wrongType (path: DocumentPath, wanted: string): ManifestFault {
  const place = path.length === 0 ? 'the manifest' : placeOf(path)
  return new ManifestFault('AC10', `parse manifest: ${place} must be ${wanted}`, { path, fix: path.length === 0 ? 'Write an object: {"tools": [{"name": ..., "command": [...]}]}.' : `Make ${place} ${wanted}.` })
}
