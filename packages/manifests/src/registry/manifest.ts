import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { skillDocuments } from '@toolyard/runtime'
import { folded } from '../document/folded.ts'
import { readAgentcli } from '../agentcli/reader.ts'
import { duplicateKeys } from '../document/duplicate-keys.ts'
import { withCatalogueFields } from '../layer/catalogue-fields.ts'
import type { EntryMemory } from '../document/known-entries.ts'
import type { YamlMemory } from '../document/yaml-memory.ts'
import { ManifestFault, wholeFinding } from '../finding/finding.ts'
import { agentcliByDefault, isYaml, mentionsToolManifest, recognizeDirectory, recognizeValue, refuseApiDocument, type Format, type Recognition } from './format.ts'
import type { Layer, ManifestText } from '../layer/layer.ts'
import type { AuditStatus } from '../tool/audit-status.ts'
import type { Tool } from '../tool/tool.ts'
import { lockReader, type ReadLock } from '../layer/lock/lock-file.ts'
import { lockedManifests, type LockedManifest, type LockPolicy } from '../layer/locked-manifests.ts'
import { manifestFile, parseManifest, readManifestText, refuseDeep, watchedFiles, type ManifestFileText } from '../document/manifest-file.ts'
import type { Schemas } from '../schema/schemas.ts'
import type { SkillOptions } from '../skill/tools/options.ts'
import { readSkillOf, readSkills } from '../skill/reader.ts'
import { refuseLong, refuseTooMany } from './tool-bound.ts'
import { readToolManifest } from '../tool-manifest/reader.ts'

/** Readers of formats that are one file. */
const readers: Record<Exclude<Format, 'skill'>, (manifest: ManifestText) => Promise<Layer>> = { agentcli: readAgentcli, 'tool-manifest': readToolManifest }
const formatNames: Record<Format, string> = { agentcli: 'an agentcli manifest', 'tool-manifest': 'a tool manifest', skill: 'a skill' }
const formatRules: Record<Format, string> = { agentcli: 'A1', 'tool-manifest': 'P1', skill: 'S1' }

/** Directories of a directory of skills that are looked at for a skill to come. */
const mostSkills = 1_000

interface ReaderTools {
  schemas: Schemas
  skills: SkillOptions
  yaml: YamlMemory
  entries: EntryMemory
  readLock: ReadLock
  /** Whether a manifest whose reading ends at its first fault yields a finding for each. */
  everyFault: boolean
}

/** Reads what `TOOL_MANIFESTS` names, in order. A manifest that can't be used yields a finding and no tools, and never throws. */
export async function readManifests (named: readonly string[], lock: LockPolicy | undefined, tools: Omit<ReaderTools, 'readLock'>): Promise<Layer[]> {
  const layers: Layer[] = []
  const readLock = lockReader()
  const unlocked = (): LockedManifest[] => named.map(path => ({ path, findings: [], files: [] }))
  const found = lock === undefined ? unlocked() : await lockedManifests(named, lock, readLock)
  for (const manifest of found) {
    if ('layer' in manifest) {
      layers.push(manifest.layer)
      continue
    }
    const layer = withAudit(await readManifest(manifest.path, { ...tools, readLock }), manifest.audit)
    await setImmediate()
    layers.push({ ...layer, findings: [...manifest.findings, ...layer.findings], files: [...layer.files ?? [], ...manifest.files] })
  }
  return refuseTooMany(layers)
}

/** The status of an entry of the lock holds for all that its files declare. */
function withAudit (layer: Layer, audit: AuditStatus | undefined): Layer {
  if (audit === undefined) return layer
  const marked = (tool: Tool): Tool => ({ ...tool, audit })
  return {
    ...layer,
    entries: layer.entries.map(entry => entry.kind === 'tool' ? { ...entry, tool: marked(entry.tool) } : entry),
    ...layer.skills !== undefined && { skills: layer.skills.map(skill => ({ ...skill, audit, tools: skill.tools.map(marked) })) }
  }
}

async function readManifest (path: string, tools: ReaderTools): Promise<Layer> {
  const { file, directory } = await manifestFile(path)
  const files = [...directory === undefined ? [] : [directory, ...await skillsToCome(directory)], ...await watchedFiles(file)]
  try {
    const layer = await readLayer(file, directory, tools)
    return { ...layer, files: [...new Set([...files, ...layer.files ?? []])] }
  } catch (error) {
    if (!(error instanceof ManifestFault)) throw error
    return { entries: [], findings: [wholeFinding(error, file)], files, isUnread: true }
  }
}

/** Where the text of a skill would be: a new directory is there before what is written into it. */
async function skillsToCome (directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
  return entries.filter(entry => entry.isDirectory()).slice(0, mostSkills).map(({ name }) => join(directory, name, 'SKILL.md'))
}

async function readLayer (file: string, directory: string | undefined, tools: ReaderTools): Promise<Layer> {
  const { schemas, yaml, entries, readLock, skills, everyFault } = tools
  if (directory !== undefined && await recognizeDirectory(directory) !== undefined) {
    return await readSkills({ directory, options: skills, schemas, everyFault })
  }
  const text = await readManifestText(file)
  // A skill may be named by its text as well: that is the file which people know.
  if (skillDocuments.includes(basename(file))) return await readSkillOf(file, { options: skills, schemas, everyFault })
  const parsed = await parse(file, text, yaml)
  // A list of tools beside a SKILL.md is of a newer form of skills.
  if (Array.isArray(parsed.value) && (await recognizeDirectory(dirname(file)))?.format === 'skill') return await readSkillOf(file, { options: skills, schemas, everyFault })
  refuseLong(parsed.value)
  refuseApiDocument(parsed.value)
  const { format } = parsed.syntax === 'yaml' ? yamlFormat(parsed.value) : recognizeValue(parsed.value)
  if (format === 'skill') return await readSkillOf(file, { options: skills, schemas, everyFault })
  const manifest = { file, schemas, readLock, known: entries, everyFault, searchPath: skills.path, ...parsed }
  return withCatalogueFields(await readers[format](manifest), parsed.value, file)
}

/** JSON first, whatever the name of the file: YAML takes a hundred times longer, and nearly all JSON is YAML. */
async function parse (
  file: string, { text, utf8 }: ManifestFileText, yaml: YamlMemory
): Promise<Omit<ManifestText, 'file' | 'schemas' | 'readLock' | 'known' | 'everyFault' | 'searchPath'>> {
  const byteOrderMark = text.startsWith('\ufeff')
  const plain = byteOrderMark ? text.slice(1) : text
  try {
    const value = await parseManifest(plain)
    await setImmediate()
    refuseDeep(withoutSchemas(value))
    return { value, syntax: 'json', byteOrderMark, utf8, duplicates: await duplicateKeys(plain) }
  } catch (error) {
    if (!(error instanceof ManifestFault)) throw error
    if (!isYaml(file, plain)) throw mentionsToolManifest(plain) ? brokenJson(file, error) : error
  }
  const reading = await yaml.read(plain)
  if (reading.ok) return { ...reading, syntax: 'yaml', byteOrderMark, utf8 }
  const { message, ...place } = reading.fault
  throw new ManifestFault('PC2', `Invalid YAML in ${file}: ${message}`, { ...place, fix: 'Correct the YAML.' })
}

/** The schemas of commands are judged one by one: one that nests too deeply takes away its own entry alone. */
function withoutSchemas (manifest: unknown): unknown {
  return changed(manifest, 'tools', tools => Array.isArray(tools) ? tools.map(entry => changed(entry, 'schema', () => undefined)) : tools)
}

function changed (value: unknown, field: string, change: (value: unknown) => unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, folded(name) === field ? change(item) : item]))
}

/** In the words of the program that tool manifests come from. */
function brokenJson (file: string, { message, place }: ManifestFault): ManifestFault {
  return new ManifestFault('PC2', message.replace('parse manifest: ', () => `Invalid JSON in ${file}: `), { ...place, fix: 'Correct the JSON, without comments (P8).' })
}

/** A tool manifest may be YAML, the other formats never are. */
function yamlFormat (value: unknown): Recognition {
  const recognition = recognizeValue(value)
  const { format, because } = recognition
  if (recognition === agentcliByDefault) return { format: 'tool-manifest', because: 'it is YAML' }
  if (format === 'tool-manifest') return recognition
  throw new ManifestFault(formatRules[format], `this is ${formatNames[format]} (${because}), which must be JSON`, { fix: 'Write it as JSON.' })
}
