import { isPublishableName } from '@toolyard/contract/terms'
import { createHash } from 'node:crypto'
import type { BuiltinPolicy } from '../builtin/policy.ts'
import { builtinTools } from '../builtin/tools.ts'
import type { Finding } from '../finding/finding.ts'
import { importedTools, markImportFaults, type ImportedTool, type ImportFaults } from './import-faults.ts'
import type { Layer } from '../layer/layer.ts'
import type { LockPolicy } from '../layer/locked-manifests.ts'
import { keptLayers } from './kept-layers.ts'
import { readManifests } from './manifest.ts'
import { createEntryMemory, type KnownEntries } from '../document/known-entries.ts'
import { createYamlMemory, type YamlMemory } from '../document/yaml-memory.ts'
import { loadCel } from '../schema/policy/expression.ts'
import { compilePolicy, type Policy } from '../schema/policy/policy.ts'
import { readPolicyFile, type PolicyReading } from '../schema/policy/read-policy.ts'
import { Registration, type RegisteredTool } from './registration.ts'
import { mergeLayers, type LayerStep, type Merged } from './merge.ts'
import { nameFindings } from './publishable-names.ts'
import { writtenToolName } from '../schema/provider-names.ts'
import { createSchemas, type SchemasMemory } from '../schema/schemas.ts'
import { refuseUntrusted } from '../program/refuse-untrusted.ts'
import { joinSkills, type JoinedSkills } from '../skill/join.ts'
import { defaultSkillOptions, type SkillOptions } from '../skill/tools/options.ts'
import type { Skill, SkillSettings } from '../layer/skill.ts'
import type { McpServer, Tool } from '../tool/tool.ts'

/** The tools visible now: all layers merged. It never changes; a reload makes a new one. */
export interface Registry {
  /** Hash of all tools and skills as they are served: another one when and only when one of them, or their order, changed. */
  readonly version: string
  /** By exact name, or by the one that Gemini is shown; also tools that are disabled or not published. */
  get (name: string): RegisteredTool | undefined
  /** The tool of a job type: the last one, where several tools have it. */
  ofType (type: string): RegisteredTool | undefined
  /** One tool of each job type, in the order of the registry; also those that are disabled. */
  jobTypes (): readonly RegisteredTool[]
  /**
   * Tools that are enabled, can run, and whose names models accept: built-in tools first, then in the order of manifests
   * and of their entries. A tool that replaces another one stands in the place of the first.
   */
  published (): readonly RegisteredTool[]
  /** Every tool, in the same order. */
  all (): readonly RegisteredTool[]
  /** The skills that are loaded, in order, also those that have no tools. */
  skills (): readonly Skill[]
  readonly policy: Policy
  /** Settings in entries of manifests, by the names of their skills. */
  skillSettings (): ReadonlyMap<string, SkillSettings>
  /** The MCP servers that manifests name, in order, also those that have no accepted tools. */
  servers (): readonly McpServer[]
  /** By manifest, then from merging, then names that are not published. */
  readonly findings: readonly Finding[]
  /** Where a tool comes from and what it replaced; undefined when no manifest says anything of the name. */
  explain (name: string): Explanation | undefined
  /** Absolute paths of all files and directories that were read, also of those that are missing: what to watch. */
  readonly files: readonly string[]
  /** The Python tools of all layers: what can be tried to import. Of those that can't run, the ones that `evenSo` says. */
  imported (evenSo?: (tool: Tool) => boolean): readonly ImportedTool[]
  /** The same manifests, as they were read, with other import faults: what can't be imported can't run. */
  withImportFaults (faults: ImportFaults): Registry
  /** Loads the same manifests anew, with the same import faults. What is in them as it was isn't judged and compiled again. */
  reload (): Promise<Registry>
  /** The manifests as they were read, in order. */
  readonly layers: readonly Layer[]
  /** This registry, but what an error takes away that another one serves is as it is there. `errors` are those for which something is. */
  keeping (before: Registry): Promise<{ registry: Registry, errors: readonly Finding[] }>
}

/** All about one name; data for `toolyard tools --explain NAME`. */
interface Explanation {
  name: string
  /** The tool as it is served; absent when every declaration of it is broken. */
  tool?: Tool
  /** Whether models see it; absent without a tool. */
  published?: boolean
  /** One step for each layer, in order: the tool comes from the last one that declared or replaced it. */
  steps: readonly LayerStep[]
  findings: readonly Finding[]
}

export interface RegistryOptions {
  /** Paths in order; later ones override earlier ones. A directory stands for the `tools.json` in it. */
  manifests: readonly string[]
  /** Whether the built-in tools are there; default true. */
  builtins?: boolean
  /** Default: all skills, in full, no scripts. Without `path` no program of a skill is found. */
  skills?: Partial<SkillOptions>
  /** Default none of what needs allowing. */
  policy?: BuiltinPolicy
  /** Tools don't run whose programs others than the owner may replace; default false: they are a warning. */
  strictPrograms?: boolean
  /** Path of the file with rules on all calls. */
  policyFile?: string | undefined
  /** A lock among the manifests stands for what it has; default: there is none, and nothing is compared with one. */
  lock?: LockPolicy
  /** Every fault of a manifest is a finding, also where reading ends at the first. Default false. */
  everyFault?: boolean
}

/** One load's work, for the next. */
interface Memory {
  schemas: SchemasMemory
  yaml: YamlMemory['readings']
  entries: KnownEntries
  registration: Registration
}

interface Reading {
  options: RegistryOptions
  layers: readonly Layer[]
  policy: Policy
  policyFindings: readonly Finding[]
  memory: Memory
}

/** Manifests before they are merged. */
interface ReadManifests extends Reading {
  builtins: readonly Tool[]
  joined: JoinedSkills['layers']
  skills: readonly Skill[]
  skillSettings: JoinedSkills['settings']
  registration: Registration
}

/**
 * Reads all manifests in order and merges them with the built-in tools. Never throws for bad manifests: what can't be
 * used is a finding, and the rest serves.
 */
export async function loadRegistry (options: RegistryOptions): Promise<Registry> {
  return await load(options, undefined)
}

async function load (options: RegistryOptions, known: Memory | undefined, faults: ImportFaults = new Map()): Promise<Registry> {
  const { manifests, lock, everyFault = false, policyFile } = options
  const schemas = createSchemas(known?.schemas)
  const yaml = createYamlMemory(known?.yaml)
  const entries = createEntryMemory(known?.entries)
  const registration = new Registration(schemas, known?.registration)
  const policyReading = policyFile === undefined ? undefined : await readPolicyFile(policyFile)
  return assemble(await joined({
    options,
    layers: await readManifests(manifests, lock, { schemas, yaml, entries, skills: skillOptions(options), everyFault }),
    policy: policyReading === undefined ? [] : await policyOf(policyReading),
    policyFindings: policyReading?.findings ?? [],
    memory: { schemas: schemas.memory, yaml: yaml.readings, entries: entries.now, registration }
  }), faults)
}

async function joined (reading: Reading): Promise<ReadManifests> {
  const { options } = reading
  const { builtins = true, policy = {}, strictPrograms = false } = options
  const { layers, skills, settings } = joinSkills(reading.layers, skillOptions(options))
  const trusted = strictPrograms ? layers.map(refuseUntrusted) : layers
  const { registration } = reading.memory
  const own = builtins ? builtinTools(policy) : []
  await registration.prepare([own, ...trusted.map(toolsOf)].flat())
  return { ...reading, builtins: own, joined: trusted, skills, skillSettings: settings, registration }
}

async function keep (next: Registry, { read, faults }: { read: ReadManifests, faults: ImportFaults }, before: Registry): ReturnType<Registry['keeping']> {
  const { layers, errors } = keptLayers(before, next)
  const policyErrors = read.policyFindings.filter(({ severity }) => severity === 'error')
  if (errors.length + policyErrors.length === 0) return { registry: next, errors }
  const policy = policyErrors.length > 0 ? before.policy : read.policy
  return { registry: assemble(await joined({ ...read, layers, policy }), faults), errors: [...policyErrors, ...errors] }
}

function skillOptions ({ skills }: RegistryOptions): SkillOptions {
  return { ...defaultSkillOptions, ...skills }
}

function assemble (read: ReadManifests, faults: ImportFaults): Registry {
  const layers = markImportFaults(read.joined, faults)
  const merged = mergeLayers(read.builtins, layers)
  const tools = [...merged.tools.values()]
  const rules = read.policy.map(({ rule }) => JSON.stringify(rule))
  const findings = [...read.policyFindings, ...layers.flatMap(layer => layer.findings), ...merged.findings, ...nameFindings(tools)]
  const { policyFile } = read.options
  const registry: Registry = {
    ...registryOf(tools.map(tool => read.registration.of(tool)), merged, findings),
    version: versionOf([...tools.map(tool => read.registration.digest(tool)), ...rules], read.skills),
    skills: () => read.skills,
    skillSettings: () => read.skillSettings,
    servers: () => read.layers.flatMap(({ servers = [] }) => servers),
    files: [...filesOf(read.layers), ...policyFile === undefined ? [] : [policyFile]],
    layers: read.layers,
    policy: read.policy,
    imported: evenSo => importedTools(read.joined, evenSo),
    withImportFaults: others => assemble(read, others),
    reload: () => load(read.options, read.memory, faults),
    keeping: before => keep(registry, { read, faults }, before)
  }
  return registry
}

function registryOf (all: readonly RegisteredTool[], { steps }: Merged, findings: readonly Finding[]): Pick<Registry, 'get' | 'ofType' | 'jobTypes' | 'published' | 'all' | 'findings' | 'explain'> {
  const byName = new Map(all.map(registered => [registered.tool.name, registered]))
  const byType = new Map(all.map(registered => [registered.tool.jobType, registered]))
  const published = all.filter(({ tool }) => isPublished(tool))
  return {
    get: name => byName.get(name) ?? byName.get(writtenToolName(name)),
    ofType: type => byType.get(type),
    jobTypes: () => [...byType.values()],
    published: () => published,
    all: () => all,
    findings,
    explain: name => {
      const tool = byName.get(name)?.tool
      const about = findings.filter(finding => finding.tool === name)
      const taken = steps.get(name) ?? []
      if (tool === undefined && about.length === 0 && taken.length === 0) return undefined
      return { name, ...tool !== undefined && { tool, published: isPublished(tool) }, steps: taken, findings: about }
    }
  }
}

/** A policy file that can't be used is no reason to let calls through. */
async function policyOf ({ rules, findings }: PolicyReading): Promise<Policy> {
  const reason = 'The policy file of this service has faults, so that no call runs; its log names them.'
  return compilePolicy(await loadCel(), findings.length > 0 ? [{ when: 'true', then: 'deny', reason }] : rules)
}

function isPublished ({ name, enabled, unavailable, publishAs }: Tool): boolean {
  return enabled && unavailable === undefined && publishAs === undefined && isPublishableName(name)
}

function filesOf (layers: readonly Layer[]): string[] {
  return [...new Set(layers.flatMap(({ files = [] }) => files))]
}

function versionOf (tools: readonly string[], skills: readonly Skill[]): string {
  return createHash('sha256').update(JSON.stringify([tools, skills.map(({ digest }) => digest)])).digest('hex').slice(0, 32)
}

function toolsOf ({ entries }: Layer): Tool[] {
  return entries.flatMap(entry => entry.kind === 'switch' ? [] : [entry.tool])
}
