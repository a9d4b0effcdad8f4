import { isRecord } from '@toolyard/contract/terms'
import type { DocumentPath, FieldFault } from '../finding/finding.ts'
import { Limits } from '../program/limit-fields.ts'
import { perEntry } from '../document/known-entries.ts'
import { createPause } from '../document/pause.ts'
import { placeOf } from '../document/place.ts'
import { permissionAliases, unknownFields } from '../document/unknown-fields.ts'
import { AgentcliManifest, AgentcliTool } from './definition.ts'
import { entryKind } from './entry-kinds.ts'
import { folded } from '../document/folded.ts'

/** Entries of lists that are given to a model's API: none says what runs a tool. */
const ofProvider = 'for each tool an entry with name, description, schema (its parameters) and command, which runs it'

/** Names that people write for fields of this format. */
const aliases = {
  ...permissionAliases,
  timeout: 'timeoutSec',
  timeoutSeconds: 'timeoutSec',
  timeoutMs: 'timeoutSec, in seconds',
  parameters: 'schema',
  inputSchema: 'schema',
  parameter_definitions: 'schema, a JSON Schema',
  args: 'the fixed arguments into command',
  env: 'the names into envPassthrough: the values are in the environment of the workers',
  function: 'name, description and schema (its parameters) into the entry itself, and the command that runs it',
  functionDeclarations: ofProvider,
  function_declarations: ofProvider,
  toolSpec: ofProvider,
  memory: '"limits": {"memoryBytes": ...}'
}

/** Limits in other units. */
const limitAliases = { memoryMb: 'memoryBytes, in bytes', memoryGb: 'memoryBytes, in bytes', cpuMs: 'cpuSec, in seconds', timeoutSec: 'timeoutSec beside limits', maxProcesses: 'processes', pids: 'processes', fds: 'openFiles' }

const serverEntries = 'tools, with {"name": NAME, "mcp": {...}} for each server, and run toolyard accept; or take the file in by toolyard add'
const entryInList = 'it into an entry of the list tools: {"tools": [{...}]}'

/** Words of other programs for the top of a manifest, and fields of an entry that stands there without its list. */
const topAliases = {
  mcpServers: serverEntries,
  servers: serverEntries,
  context_servers: serverEntries,
  mcp_servers: serverEntries,
  mcp: serverEntries,
  inputs: '{"setting": NAME} in place of each input',
  ...Object.fromEntries(['name', 'description', 'schema', 'command', ...Object.keys(aliases)].map(name => [name, entryInList])),
  functions: 'tools',
  functionDeclarations: ofProvider,
  function_declarations: ofProvider,
  sandbox: 'permissions into each tool (the sandbox itself is the setting SANDBOX)',
  permissions: 'permissions into each tool'
}

/** A field that is ignored is a warning where nothing else is said. */
type ToldField = FieldFault & { severity?: 'note' }

/** Fields that are ignored, at the top, of entries and of their limits: one that was meant to protect protects nothing. */
export async function ignoredFields (
  manifest: Record<string, unknown>, entries: readonly unknown[]
): Promise<Array<ToldField & { index?: number, tool?: string }>> {
  const top: Place = { path: [], definition: AgentcliManifest, aliases: topAliases }
  const faults: Array<ToldField & { index?: number, tool?: string }> = othersThan(manifest, top)
  const pause = createPause()
  for (const [index, entry] of entries.entries()) {
    await pause()
    if (isRecord(entry)) faults.push(...ignoredOf(entry, () => entryKind(entry) === undefined ? ofEntry(entry, index) : []))
  }
  return faults
}

const ignoredOf = perEntry<ReturnType<typeof ofEntry>>()

function ofEntry (entry: Record<string, unknown>, index: number): Array<ToldField & { index: number, tool?: string }> {
  const path = ['tools', index]
  const fields = Object.entries(entry)
  const named = fields.findLast(([field]) => folded(field) === 'name')?.[1]
  const hasSchema = fields.some(([field, value]) => folded(field) === 'schema' && value !== null)
  const asSchema = hasSchema ? undefined : fields.find(([field, value]) => folded(field) === 'parameters' && value !== null)?.[0]
  const others = asSchema === undefined ? entry : Object.fromEntries(fields.filter(([field]) => field !== asSchema))
  return [
    ...asSchema === undefined ? [] : [readAsSchema([...path, asSchema])],
    ...othersThan(others, { path, definition: AgentcliTool, aliases }),
    // A limit that nobody knows holds nothing back.
    ...fields.flatMap(([field, limits]) => folded(field) === 'limits' && isRecord(limits) ? othersThan(limits, { path: [...path, field], definition: Limits, aliases: limitAliases }) : [])
  ].map(fault => ({ ...fault, index, ...typeof named === 'string' && named !== '' && { tool: named } }))
}

function readAsSchema (path: DocumentPath): ToldField {
  return { severity: 'note', rule: 'A6', path, message: `${placeOf(path)} is read as schema`, fix: 'It may stay. Other programs ignore parameters: call it schema for them.' }
}

interface Place {
  path: DocumentPath
  definition: typeof AgentcliManifest | typeof AgentcliTool | typeof Limits
  aliases?: Readonly<Record<string, string>>
}

/** The case of a name doesn't matter in this format. */
function othersThan (value: Record<string, unknown>, place: Place): FieldFault[] {
  const known = new Set(Object.keys(place.definition.properties).map(folded))
  return unknownFields(Object.fromEntries(Object.entries(value).filter(([name]) => !known.has(folded(name)))), { ...place, all: true })
}
