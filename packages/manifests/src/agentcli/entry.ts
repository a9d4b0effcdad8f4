import type { TSchema } from 'typebox'
import { Check, Errors } from 'typebox/schema'
import { placeOf } from '../document/place.ts'
import { isLimit, Limits, limitNames, limitsOf, limitText } from '../program/limit-fields.ts'
import type { ToolLimits } from '../tool.ts'
import { ManifestFault, type DocumentPath, type FieldFault } from '../finding.ts'
import { unknownFields } from '../unknown-fields.ts'
import { AgentcliTool } from './definition.ts'

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
  limits: ToolLimits | undefined
  sha256: string | undefined
  enabled: boolean | undefined
  disabled: boolean | undefined
  override: boolean
  idempotent: boolean
}

type Fields = ReadonlyMap<string, unknown>

/**
 * The entries of an agentcli manifest, by the rules of Go's `encoding/json` (A1, AC1, AC10): `null` and absent are
 * the same, names of fields match in any case and the last match wins, unknown fields are ignored.
 *
 * @throws ManifestFault `parse manifest: …` for the first wrong type.
 */
export function decodeEntries (manifest: unknown): AgentcliEntry[] {
  return rawEntries(manifest).map((entry, index) => decodeEntry(entry, ['tools', index]))
}

/** Names that people write for fields of this format. */
const aliases = { timeout: 'timeoutSec', parameters: 'schema', env: 'envPassthrough' }

/** Fields that are ignored and look like known ones (X21). Others are for other programs. */
export function misspeltFields (manifest: unknown): Array<FieldFault & { index: number }> {
  const known = new Set(Object.keys(AgentcliTool.properties).map(folded))
  return rawEntries(manifest).flatMap((entry, index) => {
    const path: DocumentPath = ['tools', index]
    const others = Object.fromEntries(Object.entries(Object(entry) as object).filter(([name]) => !known.has(folded(name))))
    return [
      ...unknownFields(others, { path, definition: AgentcliTool, all: false, aliases }),
      ...misspeltLimits(entry, path)
    ].map(fault => ({ ...fault, index }))
  })
}

function rawEntries (manifest: unknown): readonly unknown[] {
  if (manifest === null) return []
  const tools = fieldsOf(manifest, []).get('tools') ?? []
  if (!Array.isArray(tools)) throw wrongType(['tools'], 'an array')
  return tools
}

function decodeEntry (entry: unknown, path: DocumentPath): AgentcliEntry {
  const fields = entry === null ? new Map<string, unknown>() : fieldsOf(entry, path)
  const at = <Name extends keyof AgentcliTool>(name: Name) => decodeField(name, fields, path)
  const timeoutSec = at('timeoutSec') ?? 0
  if (!Number.isSafeInteger(timeoutSec)) throw wrongType([...path, 'timeoutSec'], typeNames.integer)
  return {
    name: at('name') ?? '',
    description: at('description') ?? '',
    schema: fields.get('schema'),
    command: at('command'),
    timeoutSec,
    envPassthrough: at('envPassthrough') ?? [],
    permissions: at('permissions'),
    limits: decodeLimits(fields, path),
    sha256: at('sha256'),
    enabled: at('enabled'),
    disabled: at('disabled'),
    override: at('override') ?? false,
    idempotent: at('idempotent') ?? false
  }
}

function decodeLimits (fields: Fields, path: DocumentPath): ToolLimits | undefined {
  const raw = fields.get('limits')
  if (raw === undefined) return undefined
  const written = fieldsOf(raw, [...path, 'limits'])
  return limitsOf(Object.fromEntries(limitNames.map(name => {
    const value = written.get(folded(name))
    if (value !== undefined && !isLimit(name, value)) throw wrongType([...path, 'limits', name], limitText(name).replace(/^must be /, ''))
    return [name, value]
  })))
}

/** A limit that nobody knows holds nothing back. */
function misspeltLimits (entry: unknown, path: DocumentPath): FieldFault[] {
  const [name, limits] = Object.entries(Object(entry) as object).find(([name]) => folded(name) === 'limits') ?? []
  if (name === undefined || typeof limits !== 'object' || limits === null) return []
  const known = new Set(limitNames.map(folded))
  const others = Object.fromEntries(Object.entries(limits as object).filter(([name]) => !known.has(folded(name))))
  return unknownFields(others, { path: [...path, name], definition: Limits, all: true })
}

function fieldsOf (value: unknown, path: DocumentPath): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrongType(path, 'an object')
  return new Map(Object.entries(value).filter(([, field]) => field !== null).map(([name, field]) => [folded(name), field]))
}

/** Go's case folding, as far as it can reach an ASCII letter: the long s and the Kelvin sign. */
function folded (name: string): string {
  return name.replaceAll('\u017f', 's').replaceAll('\u212a', 'k').replace(/[A-Z]/g, letter => letter.toLowerCase())
}

const typeNames = { string: 'a string', array: 'an array of strings', integer: 'an integer', boolean: 'true or false' } as const

/** Types alone are compared here: what else the definition asks for has texts of its own, which come later. */
function decodeField<Name extends keyof AgentcliTool> (name: Name, fields: Fields, path: DocumentPath): AgentcliTool[Name] | undefined {
  const raw = fields.get(folded(name))
  if (raw === undefined) return undefined
  // `null` inside a list is an empty string, as in Go.
  const value: unknown = Array.isArray(raw) ? raw.map((item: unknown) => item ?? '') : raw
  const definition: TSchema = AgentcliTool.properties[name]
  const error = Check(definition, value) ? undefined : Errors(definition, value)[1].find(({ keyword }) => keyword === 'type')
  if (error === undefined) return value as AgentcliTool[Name]
  const { type } = error.params as { type: keyof typeof typeNames }
  const item = /^\/(\d+)$/.exec(error.instancePath)?.[1]
  throw wrongType([...path, name, ...item === undefined ? [] : [Number(item)]], typeNames[type])
}

function wrongType (path: DocumentPath, wanted: string): ManifestFault {
  const place = path.length === 0 ? 'the manifest' : placeOf(path)
  return new ManifestFault('AC10', `parse manifest: ${place} must be ${wanted}`, { path, fix: `Make ${place} ${wanted}.` })
}
