import { createHash } from 'node:crypto'
import { publishableNamePattern } from '@toolyard/contract'
import { goQuote } from './go-quote.ts'
import { builtinTools } from './builtin/tools.ts'
import type { Finding } from './finding.ts'
import type { Layer } from './layer.ts'
import { readManifest } from './manifest.ts'
import { mergeLayers } from './merge.ts'
import { createSchemaCompiler, type SchemaCompiler } from './schema/compiler.ts'
import type { ArgumentsResult } from './schema/validator.ts'
import { joinSkills } from './skill/join.ts'
import { defaultSkillOptions, type SkillOptions } from './skill/options.ts'
import type { Skill } from './skill/skill.ts'
import type { Tool } from './tool.ts'

/** A tool and the check of its arguments. */
export interface RegisteredTool {
  readonly tool: Tool
  /** Checks a call's arguments against the schema (X18); the result holds a copy with defaults filled in. */
  validate (args: Record<string, unknown>): ArgumentsResult
}

/** The tools visible now: all layers merged. It never changes; a reload makes a new one. */
export interface Registry {
  /** Hash of all tools as they are served: another one when and only when a tool, or their order, changed. */
  readonly version: string
  /** By exact name; also tools that are disabled or not published. */
  get (name: string): RegisteredTool | undefined
  /**
   * Tools that are enabled and whose names models accept (X12): built-in tools first, then in the order of manifests
   * and of their entries. A tool that replaces another one stands in the place of the first.
   */
  published (): readonly RegisteredTool[]
  /** Every tool, in the same order. */
  all (): readonly RegisteredTool[]
  /** The skills that are loaded, in order, also those that have no tools. */
  skills (): readonly Skill[]
  /** What is wrong with the manifests: by manifest, then what merging found, then names that are not published. */
  readonly findings: readonly Finding[]
}

/** What to load. */
export interface RegistryOptions {
  /** Paths in order; later ones override earlier ones. A directory stands for the `tools.json` in it. */
  manifests: readonly string[]
  /** Whether the built-in tools are there; default true. */
  builtins?: boolean
  /** Default: all skills, in full, no scripts. Without `path` no program of a skill is found. */
  skills?: Partial<SkillOptions>
}

const publishableName = new RegExp(publishableNamePattern)

/**
 * Reads all manifests in order and merges them with the built-in tools. Never throws for bad manifests: what can't be
 * used is a finding, and the rest serves (X16, X24).
 */
export async function loadRegistry ({ manifests, builtins = true, skills: given = {} }: RegistryOptions): Promise<Registry> {
  const schemas = createSchemaCompiler()
  const skills = { ...defaultSkillOptions, ...given }
  const layers: Layer[] = []
  for (const manifest of manifests) layers.push(await readManifest(manifest, { schemas, skills }))
  const joined = joinSkills(layers, skills)
  const { tools, findings } = mergeLayers(builtins ? builtinTools() : [], joined.layers)
  const registered = new Map([...tools].map(([name, tool]) => [name, registeredTool(tool, schemas)]))
  const all = [...registered.values()]
  const published = all.filter(({ tool }) => tool.enabled && publishableName.test(tool.name))
  return {
    version: versionOf([...tools.values()]),
    get: name => registered.get(name),
    published: () => published,
    all: () => all,
    skills: () => joined.skills,
    findings: [...joined.layers.flatMap(layer => layer.findings), ...findings, ...nameFindings([...tools.values()])]
  }
}

function registeredTool (tool: Tool, schemas: SchemaCompiler): RegisteredTool {
  return { tool, validate: schemas.validator(tool.parameters) }
}

/** Where a tool was declared is left out: moving an entry to another file changes nothing that is served. */
function versionOf (tools: readonly Tool[]): string {
  const served = tools.map(({ source: _, ...tool }) => tool)
  return createHash('sha256').update(JSON.stringify(served)).digest('hex').slice(0, 32)
}

function nameFindings (tools: readonly Tool[]): Finding[] {
  return tools.filter(tool => !publishableName.test(tool.name)).map(({ name, source: { file, index } }) => ({
    severity: 'warning',
    file,
    rule: 'X12',
    index,
    tool: name,
    message: `tool[${index}] ${goQuote(name)}: is not published to models, whose tool names must match ${publishableNamePattern}`,
    fix: 'Rename the tool. Callers can still invoke it by its exact name.'
  }))
}
