import { dirname } from 'node:path'
import { isRecord, isSecretVariable, limits } from '@toolyard/contract/terms'
import { perEntry } from '../document/known-entries.ts'
import { createPause } from '../document/pause.ts'
import { placeOf } from '../document/place.ts'
import { ManifestFault, wholeFinding } from '../finding/finding.ts'
import { FindingList, type Remark } from '../finding/finding-list.ts'
import { goQuote } from '../finding/go-quote.ts'
import type { Layer, LayerEntry, ManifestText } from '../layer/layer.ts'
import type { SkillSettings } from '../layer/skill.ts'
import { manifestLimits } from '../tool/limits.ts'
import { readSecrets } from '../program/secrets.ts'
import { sortPermissions } from '../tool/permissions.ts'
import { defaultFaults } from '../schema/defaults.ts'
import { policyRemarks } from '../schema/policy/read-policy.ts'
import type { Schemas } from '../schema/schemas.ts'
import type { McpServer, Tool } from '../tool/tool.ts'
import { decodeManifest, type AgentcliEntry } from './entry.ts'
import { kindReader } from './entry-kinds.ts'
import { located, networkOf, readEntry, type EntryReading } from './entry-tool.ts'
import { ignoredFields } from './ignored-fields.ts'
import { programFindings } from './program-check.ts'
import { readPublishAs } from './publish-as.ts'

/**
 * Reads an agentcli `tools.json`.
 *
 * The first fault is the one that counts, and nothing of the manifest is served then. Faults come in this order:
 * types of all fields; per tool name, duplicate, command, environment, program path. A validation hears of all of them.
 * A schema that can't be used takes away its own entry alone. A program that is missing is a warning: the call
 * will say `TOOL_UNAVAILABLE`.
 *
 * @throws ManifestFault when there is no list of entries.
 */
export async function readAgentcli (
  { file, value, schemas, readLock, known, everyFault, searchPath, ...text }: ManifestText
): Promise<Layer> {
  if (text.byteOrderMark) throw new ManifestFault('AC1', 'parse manifest: begins with a byte order mark', { fix: 'Save it as UTF-8 without one.' })
  const decoded = await decodeManifest(value, file, known)
  const { entries, faults } = await checkEntries(decoded.entries, file)
  const [first] = [...decoded.faults, ...faults]
  if (first !== undefined && !everyFault) return { entries: [], findings: [wholeFinding(first, file)] }
  const findings = new FindingList(file)
  findings.add([...decoded.faults, ...faults].map(fault => wholeFinding(fault, file)))
  findings.add(textFindings(text))
  findings.add((await ignoredFields(decoded.raw.manifest, decoded.raw.entries)).map((fault): Remark => ({ severity: 'warning', ...fault })))
  findings.add(decoded.hasList ? [] : [noList])
  const served: LayerEntry[] = []
  const files: string[] = []
  const servers: McpServer[] = []
  const skillSettings: SkillSettings[] = []
  const readKind = kindReader({ file, schemas, readLock })
  const pause = createPause()
  for (const [index, entry] of decoded.entries.entries()) {
    if (entry === undefined) {
      await pause()
      const reading = await readKind(decoded.raw.entries[index], index)
      findings.add(reading?.findings ?? [])
      served.push(...reading?.entries ?? [])
      files.push(...reading?.files ?? [])
      servers.push(...reading?.servers ?? [])
      skillSettings.push(...reading?.skillSettings ?? [])
      continue
    }
    const read = entries.get(index)
    const judged = await judgedOf(read, async () => await judge({ entry, index, read }, schemas))
    findings.add(judged.remarks)
    if (read !== undefined && judged.isUsable) served.push(read)
    // Judging patterns takes milliseconds each: a long manifest must not hold up a process that serves.
    await pause()
  }
  const tools = served.flatMap(entry => entry.kind === 'tool' ? [entry.tool] : [])
  findings.add(await programFindings(tools, { directory: dirname(file), searchPath }))
  return { entries: first === undefined ? served : [], findings: findings.all(), files, servers, skillSettings }
}

interface Judged {
  remarks: readonly Remark[]
  isUsable: boolean
}

const judgedOf = perEntry<Promise<Judged>>()

/** The findings about one entry, and whether it can be served. */
async function judge (
  { entry, index, read }: { entry: AgentcliEntry, index: number, read: LayerEntry | undefined }, schemas: Schemas
): Promise<Judged> {
  const published = read?.kind === 'tool' ? readPublishAs(entry.publishAs, read.tool) : { faults: [] }
  const unusable = read?.kind === 'switch'
    ? []
    : [
        ...await schemaFaults(entry, index, schemas), ...await ruleFaults(entry, read, index), ...networkFaults(entry, index),
        ...published.faults
      ]
  const remarks = [...permissionFindings(entry, index), ...longTimeout(entry, index), ...defaultFindings(entry, index), ...unusable]
  if (read?.kind !== 'tool') return { remarks, isUsable: unusable.length === 0 }
  if (published.publishAs !== undefined) read.tool.publishAs = published.publishAs
  return { remarks: [...remarks, ...secretFindings(read.tool)], isUsable: unusable.length === 0 }
}

/** It is read as a manifest without tools, which nobody means who leaves out the list. */
const noList: Remark = {
  severity: 'warning', rule: 'A1', path: [], message: 'has no list of tools', fix: 'Write {"tools": [...]}. An empty list says that there are none.'
}

const readingOf = perEntry<EntryReading>()

/** The entries that can be served, by their places, and what keeps the manifest from being served at all. */
async function checkEntries (
  decoded: ReadonlyArray<AgentcliEntry | undefined>, file: string
): Promise<{ entries: Map<number, LayerEntry>, faults: ManifestFault[] }> {
  const entries = new Map<number, LayerEntry>()
  const faults: ManifestFault[] = []
  const names = new Set<string>()
  const pause = createPause()
  for (const [index, entry] of decoded.entries()) {
    await pause()
    if (entry === undefined || faults.length > manifestLimits.findings) continue
    const isFirst = !names.has(entry.name)
    const read = isFirst ? readingOf(entry, () => readEntry(entry, index, { file, names })) : readEntry(entry, index, { file, names })
    faults.push(...read.faults)
    if (read.entry !== undefined) entries.set(index, read.entry)
    names.add(entry.name)
  }
  return { entries, faults }
}

/** Why an entry is left out, alone: its schema can't be used. */
async function schemaFaults ({ name, schema }: AgentcliEntry, index: number, schemas: Schemas): Promise<Remark[]> {
  if (schema === undefined) return []
  const faults = isRecord(schema)
    ? (await schemas.check(schema)).map(({ message, fix }) => new ManifestFault('A6', `schema ${message}`, { fix }))
    : [new ManifestFault('A6', 'schema must be a JSON object', { fix: 'Write a JSON Schema of the arguments, or leave schema out.' })]
  return faults.map(fault => located(fault, index, name)).map(({ rule, message, place }) => ({ severity: 'error', rule, message, ...place }))
}

/** Why an entry is left out, alone: a rule of it can't be used. */
async function ruleFaults ({ name, policy }: AgentcliEntry, read: LayerEntry | undefined, index: number): Promise<Remark[]> {
  if (read?.kind !== 'tool') return []
  const faults = await policyRemarks(policy, read.tool.parameters, ['tools', index])
  return faults.map(fault => ({ ...fault, index, tool: name, message: `tool[${index}] ${goQuote(name)}: ${fault.message}` }))
}

/** Why an entry is left out, alone: its hosts or its secrets can't be used, and without them the tool would be another. */
function networkFaults (entry: AgentcliEntry, index: number): Remark[] {
  const { name } = entry
  const network = networkOf(entry, index)
  const faults = [...network.faults, ...readSecrets(entry.secrets, network.held.network, ['tools', index]).faults]
  return faults.map(fault => ({ ...fault, index, tool: name, message: `tool[${index}] ${goQuote(name)}: ${fault.message}` }))
}

/** Go reads these without a word, though they may not be what was meant. */
function textFindings ({ utf8, duplicates }: Pick<ManifestText, 'utf8' | 'duplicates'>): Remark[] {
  const encoding: Remark = {
    severity: 'warning', rule: 'AC1', message: 'is not UTF-8; what is wrong is read as U+FFFD', fix: 'Save it as UTF-8.'
  }
  const doubles = duplicates.map(({ path, line, column }): Remark => ({
    severity: 'warning', rule: 'AC10', path, line, column, message: `${placeOf(path)} stands twice; the last one counts`, fix: 'Remove one of the two.'
  }))
  return [...utf8 ? [] : [encoding], ...doubles]
}

function permissionFindings ({ permissions = [], name }: AgentcliEntry, index: number): Remark[] {
  return sortPermissions(permissions).unknown.map(permission => ({
    severity: 'warning',
    rule: 'P18',
    index,
    tool: name,
    message: `tool[${index}] ${goQuote(name)}: ${goQuote(permission)} is no known permission and is ignored`,
    fix: 'Use read_repo, write_files or network.'
  }))
}

function secretFindings ({ name, run, source: { index } }: Tool): Remark[] {
  const names = run.kind === 'command' ? run.envPassthrough.filter(isSecretVariable) : []
  return names.map(variable => ({
    severity: 'warning',
    rule: 'X19',
    index,
    tool: name,
    message: `tool[${index}] ${goQuote(name)}: envPassthrough: ${variable} is a secret of the service and is not passed`,
    fix: 'Remove the entry, and give the tool a secret of its own under another name.'
  }))
}

function defaultFindings ({ name, schema }: AgentcliEntry, index: number): Remark[] {
  return defaultFaults(schema).map(({ message, fix }) => (
    { severity: 'warning', rule: 'A6', index, tool: name, message: `tool[${index}] ${goQuote(name)}: schema: ${message}`, fix }
  ))
}

function longTimeout ({ name, timeoutSec }: AgentcliEntry, index: number): Remark[] {
  const { max } = limits.toolTimeoutSec
  if (timeoutSec <= max) return []
  return [{
    severity: 'warning',
    rule: 'X8',
    index,
    tool: name,
    message: `tool[${index}] ${goQuote(name)}: timeoutSec ${timeoutSec} is above ${max}; ${max} is used`,
    fix: `Write a timeoutSec of at most ${max}.`
  }]
}
