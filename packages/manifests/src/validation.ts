import { locate } from './document/yaml.ts'
import type { DocumentPath, Finding } from './finding.ts'
import { readManifestText } from './manifest-file.ts'
import { lintForModels } from './model-lint/lint.ts'
import { loadRegistry, type Registry } from './registry.ts'
import type { SkillOptions } from './skill/options.ts'
import type { Tool } from './tool.ts'

/** How strict a validation is. */
export interface ValidationOptions {
  /** Warnings are errors. Default false. */
  strict?: boolean
  /** What the operator decided about skills. */
  skills?: Partial<SkillOptions>
  /** Loads what tools run, to see whether it can be loaded: Python modules and their classes. Default: nothing is run. */
  tryImports?: (tools: readonly Tool[]) => Promise<readonly ImportFault[]>
}

/** Why the module or the class of a Python tool can't be loaded. */
export interface ImportFault {
  tool: Tool
  what: 'module' | 'class'
  reason: string
}

/** What a validation found. */
export interface Validation {
  /** No error was found. */
  ok: boolean
  /** By file, in the order of the paths, then by position. */
  findings: readonly Finding[]
  /** Everything that was read. */
  files: readonly string[]
}

/**
 * Checks manifests as if a service were to load them in this order, and finds all that is wrong with each of them (P32,
 * PC6): with the position in the file where it can be known, the rule, and what to do. Advice about models is part of it.
 * Needs no Redis, and runs nothing but `tryImports`.
 *
 * Stricter than loading: what a format requires, but a service can do without, is an error (X15).
 */
export async function validateManifests (paths: readonly string[], { strict = false, skills = {}, tryImports }: ValidationOptions = {}): Promise<Validation> {
  const registry = await loadRegistry({ manifests: paths, skills })
  const loadable = registry.all().map(({ tool }) => tool).filter(({ unavailable }) => unavailable === undefined)
  const faults = (await tryImports?.(loadable))?.map(importFinding) ?? []
  const found = [...registry.findings, ...lintForModels(registry), ...faults].map(finding => judged(finding, strict))
  const findings = await located(found, registry)
  return { ok: findings.every(({ severity }) => severity !== 'error'), findings, files: registry.files }
}

/** In the words of the format's validator where it has any (PC4). */
function importFinding ({ tool: { name, run, source: { file, index } }, what, reason }: ImportFault): Finding {
  const className = run.kind === 'python' ? run.className : undefined
  const field = what === 'module' || className === undefined ? 'module' : 'class_name'
  const place = { severity: 'error' as const, file, index, tool: name, path: ['tools', index, field] }
  const at = `tools[${index}].`
  if (what === 'module') return { ...place, rule: 'P29', message: `${at}module import failed (${reason})`, fix: 'Correct the module, or install what it imports.' }
  if (className === undefined) return { ...place, rule: 'P17', message: `${at}no Tool subclass found in module`, fix: 'Declare a class that descends from Tool in the module itself, or write class_name.' }
  const message = reason.includes('not found') ? `${at}class_name '${className}' not found in module` : `${at}class_name '${className}' must inherit from Tool`
  return { ...place, rule: 'P16', message, fix: `Correct class_name, or the class: ${reason}.` }
}

function judged (finding: Finding, strict: boolean): Finding {
  const { nonconforming, untrusted: _, ...rest } = finding
  return { ...rest, severity: strict || nonconforming === true ? 'error' : finding.severity }
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
