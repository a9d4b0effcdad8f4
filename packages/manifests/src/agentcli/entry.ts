import { ManifestFault } from '../finding.ts'

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
  if (manifest === null) return []
  const tools = fieldsOf(manifest, 'the manifest').get('tools') ?? []
  if (!Array.isArray(tools)) throw wrongType('tools', 'an array')
  return tools.map((entry, index) => decodeEntry(entry, `tools[${index}]`))
}

function decodeEntry (entry: unknown, place: string): AgentcliEntry {
  const fields = entry === null ? new Map<string, unknown>() : fieldsOf(entry, place)
  const at = (name: string) => [fields, name, place] as const
  return {
    name: text(...at('name')),
    description: text(...at('description')),
    schema: fields.get('schema'),
    command: texts(...at('command')),
    timeoutSec: integer(...at('timeoutSec')),
    envPassthrough: texts(...at('envPassthrough')) ?? [],
    enabled: flag(...at('enabled')),
    disabled: flag(...at('disabled')),
    override: flag(...at('override')) ?? false,
    idempotent: flag(...at('idempotent')) ?? false
  }
}

function fieldsOf (value: unknown, place: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrongType(place, 'an object')
  return new Map(Object.entries(value).filter(([, field]) => field !== null).map(([name, field]) => [folded(name), field]))
}

/** Go's case folding, as far as it can reach an ASCII letter: the long s and the Kelvin sign. */
function folded (name: string): string {
  return name.replaceAll('\u017f', 's').replaceAll('\u212a', 'k').replace(/[A-Z]/g, letter => letter.toLowerCase())
}

function text (fields: Fields, name: string, place: string): string {
  const value = fields.get(folded(name)) ?? ''
  if (typeof value !== 'string') throw wrongType(`${place}.${name}`, 'a string')
  return value
}

/** `null` inside a list is an empty string, as in Go. */
function texts (fields: Fields, name: string, place: string): string[] | undefined {
  const value = fields.get(folded(name))
  if (value === undefined) return undefined
  if (!Array.isArray(value)) throw wrongType(`${place}.${name}`, 'an array of strings')
  return value.map((item: unknown, index) => {
    if (item === null) return ''
    if (typeof item !== 'string') throw wrongType(`${place}.${name}[${index}]`, 'a string')
    return item
  })
}

function integer (fields: Fields, name: string, place: string): number {
  const value = fields.get(folded(name)) ?? 0
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw wrongType(`${place}.${name}`, 'an integer')
  return value
}

function flag (fields: Fields, name: string, place: string): boolean | undefined {
  const value = fields.get(folded(name))
  if (value !== undefined && typeof value !== 'boolean') throw wrongType(`${place}.${name}`, 'true or false')
  return value
}

function wrongType (place: string, wanted: string): ManifestFault {
  return new ManifestFault('AC10', `parse manifest: ${place} must be ${wanted}`, { fix: `Make ${place} ${wanted}.` })
}
