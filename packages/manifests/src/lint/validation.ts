import { locate } from '../document/yaml.ts'
import type { DocumentPath, Finding } from '../finding/finding.ts'
import { importFinding, type ImportFault } from '../registry/import-faults.ts'
import { readManifestText } from '../document/manifest-file.ts'
import { lintForModels, type ProviderName } from './lint.ts'
import { loadRegistry, type Registry } from '../registry/registry.ts'
import type { Skill, SkillSettings } from '../layer/skill.ts'
import type { LockPolicy } from '../layer/locked-manifests.ts'
import type { SkillOptions } from '../skill/tools/options.ts'
import { signatureFindings, type ExecuteSignature } from '../tool-manifest/signature.ts'
import type { McpServer, Tool } from '../tool/tool.ts'

export interface ValidationOptions {
  /** Warnings are errors; notes are not. Default false. */
  strict?: boolean
  /** Whose API schemas are judged for; default: all that there are forms for. */
  provider?: ProviderName | undefined
  skills?: Partial<SkillOptions>
  /** Path of the file with rules on all calls. */
  policyFile?: string | undefined
  /** Of a lock among the manifests; default: none is read. */
  lock?: LockPolicy
  /** Says what this machine lacks for what was read. */
  lacking?: (read: ReadLayers) => Promise<Finding[]>
  /** Loads what tools run, to see whether it can be loaded: Python modules and their classes. Default: nothing is run. */
  tryImports?: (tools: readonly Tool[]) => Promise<ModuleTries>
}

interface ReadLayers {
  skills: readonly Skill[]
  settings: ReadonlyMap<string, SkillSettings>
  tools: readonly Tool[]
  servers: readonly McpServer[]
}

export interface ModuleTries {
  faults: readonly ImportFault[]
  /** Of those without a fault, as far as they can be told. */
  signatures: readonly ExecuteSignature[]
}

export interface Validation {
  /** No error was found. */
  ok: boolean
  /** By file, in the order of the paths, then by position. */
  findings: readonly Finding[]
  files: readonly string[]
}

/**
 * Checks manifests as if a service were to load them in this order, and finds all that is wrong with each of
 * them: with the position in the file where it can be known, the rule, and what to do. Advice about models is part of it.
 * Needs no Redis, and runs nothing but `tryImports`.
 *
 * Stricter than loading: what a format requires, but a service can do without, is an error.
 */
export async function validateManifests (
  paths: readonly string[], { strict = false, provider, skills = {}, policyFile, lock, tryImports, lacking }: ValidationOptions = {}
): Promise<Validation> {
  const registry = await loadRegistry({ manifests: paths, skills, policyFile, everyFault: true, ...lock !== undefined && { lock } })
  // Those of all layers: what a later one replaces is broken all the same.
  const judgedByText = new Set(registry.findings.filter(isClassFault).map(placeOfEntry))
  const tried = registry.imported(tool => judgedByText.has(placeOfEntry(tool.source))).map(({ tool }) => tool)
  const tries = await tryImports?.(tried)
  const faults = tries?.faults.map(importFinding) ?? []
  const unfit = tries?.signatures.flatMap(signatureFindings) ?? []
  // An import tells more than the text of the module does: it may have raised before its class.
  const known = new Set(faults.map(placeOfEntry))
  const read = registry.findings.filter(finding => !isClassFault(finding) || !known.has(placeOfEntry(finding)))
  const tools = registry.all().map(({ tool }) => tool)
  const lacks = await lacking?.({ skills: registry.skills(), settings: registry.skillSettings(), tools, servers: registry.servers() }) ?? []
  const found = [...read, ...lacks, ...lintForModels(registry, provider), ...faults, ...unfit].map(finding => judged(finding, strict))
  const findings = await located(found, registry)
  return { ok: findings.every(({ severity }) => severity !== 'error'), findings, files: registry.files }
}

function isClassFault ({ rule }: Finding): boolean {
  return rule === 'P16' || rule === 'P17'
}

function placeOfEntry ({ file, index }: Pick<Finding, 'file' | 'index'>): string {
  return `${index} ${file}`
}

function judged (finding: Finding, strict: boolean): Finding {
  const { nonconforming, untrusted: _, whole: __, ...rest } = finding
  const isError = nonconforming === true || (strict && finding.severity === 'warning')
  return { ...rest, severity: isError ? 'error' : finding.severity }
}

/** Puts findings of one file together, with their positions. */
async function located (findings: readonly Finding[], { files }: Registry): Promise<Finding[]> {
  const byFile = new Map<string, Finding[]>(files.map(file => [file, []]))
  for (const finding of findings) {
    const own = byFile.get(finding.file)
    if (own === undefined) byFile.set(finding.file, [finding])
    else own.push(finding)
  }
  const placed: Finding[] = []
  for (const [file, own] of byFile) placed.push(...await withPositions(file, own))
  return placed
}

async function withPositions (file: string, findings: readonly Finding[]): Promise<Finding[]> {
  const paths = findings.map(pathOf)
  const wanted = paths.filter(path => path !== undefined)
  if (wanted.length === 0) return [...findings]
  const text = await readManifestText(file).then(({ text }) => text, () => undefined)
  if (text === undefined) return [...findings]
  const positions = await locate(text.replace(/^\ufeff/, ''), wanted)
  const byPath = new Map(wanted.map((path, at) => [path, positions[at]]))
  return findings.map((finding, at) => {
    const path = paths[at]
    return { ...finding, ...path !== undefined && byPath.get(path) }
  }).sort((left, right) => (left.line ?? 0) - (right.line ?? 0) || (left.column ?? 0) - (right.column ?? 0))
}

/** Where to look for a finding that has no position yet. */
function pathOf ({ path, index, line }: Finding): DocumentPath | undefined {
  if (line !== undefined) return undefined
  return path ?? (index === undefined ? undefined : ['tools', index])
}
