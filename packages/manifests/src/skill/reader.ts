import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ManifestFault, type Finding } from '../finding.ts'
import type { Layer } from '../layer.ts'
import type { SchemaCompiler } from '../schema/compiler.ts'
import type { Tool } from '../tool.ts'
import { parseSkillDocument, type FrontMatter } from './front-matter.ts'
import { isInstalled } from './installed.ts'
import type { SkillOptions } from './options.ts'
import type { Skill } from './skill.ts'
import { readSkillText } from './skill-text.ts'
import { skillTools } from './skill-tools.ts'
import { parseToolsFile } from './tools-text.ts'

/** What the reader of skills is given. */
export interface SkillDirectory {
  /** Absolute path: a skill, or a directory of skills. */
  directory: string
  options: SkillOptions
  schemas: SchemaCompiler
  /** Whether every fault is told, also where the first one decides. */
  everyFault: boolean
}

/** What a directory yields: at most one skill, and what is wrong with it. */
interface SkillReading {
  skill?: Skill
  findings: Finding[]
}

/**
 * Reads a skill, or all skills right below a directory, in the order of their directories' names (S1, SC21, B18). The
 * layer holds skills, not tools: `joinSkills` decides which skills stay. A skill that can't be used is a finding and is
 * skipped as a whole; the others are not affected (S38).
 */
export async function readSkills (source: SkillDirectory): Promise<Layer> {
  const own = await readSkill(source)
  if (own !== undefined) return layerOf([own], [source.directory])
  const names = (await readdir(source.directory)).sort()
  const directories = names.map(name => join(source.directory, name))
  const readings: SkillReading[] = []
  for (const directory of directories) {
    const reading = await readSkill({ ...source, directory })
    if (reading !== undefined) readings.push(reading)
  }
  return layerOf(readings, directories)
}

/**
 * Reads the skill that a `tools.json` belongs to (S1).
 *
 * @throws ManifestFault when there is no SKILL.md beside it.
 */
export async function readSkillOf (file: string, tools: Omit<SkillDirectory, 'directory'>): Promise<Layer> {
  const reading = await readSkill({ ...tools, directory: dirname(file) })
  if (reading === undefined) throw new ManifestFault('S1', 'this is the tools.json of a skill, but there is no SKILL.md beside it', { fix: 'Add a SKILL.md.' })
  return layerOf([reading], [dirname(file)])
}

/** `directories` are all that were looked into: one that holds no skill may hold one later. */
function layerOf (readings: readonly SkillReading[], directories: readonly string[]): Layer {
  return {
    entries: [],
    files: directories.flatMap(directory => [directory, join(directory, 'SKILL.md'), join(directory, 'tools.json')]),
    skills: readings.flatMap(({ skill }) => skill === undefined ? [] : [skill]),
    findings: readings.flatMap(({ findings }) => findings)
  }
}

/** Undefined for a directory without a SKILL.md: it is no skill. */
async function readSkill (source: SkillDirectory): Promise<SkillReading | undefined> {
  const { directory, options } = source
  const file = join(directory, 'SKILL.md')
  try {
    const text = await readSkillText(directory, 'SKILL.md')
    if (text === undefined) return undefined
    const { frontMatter, body } = await parseSkillDocument(text)
    const name = frontMatter.name ?? basename(directory)
    if (!isWanted(name, options)) return { findings: [] }
    const missing = await missingPrograms(frontMatter, source)
    if (missing.length > 0) {
      const message = `skill ${JSON.stringify(name)} is skipped: it needs ${missing.join(', ')}`
      return { findings: [{ severity: 'warning', file, rule: 'SC22', message, fix: 'Install what is missing, or add its directory to PATH.' }] }
    }
    const { tools, findings } = await readTools(source)
    if (tools === undefined) return { findings }
    return { skill: { name, description: frontMatter.description ?? '', text: body, file, tools }, findings }
  } catch (error) {
    return { findings: [faultFinding(error, file)] }
  }
}

function isWanted (name: string, { enabled, disabled }: SkillOptions): boolean {
  return (enabled === 'all' || enabled.includes(name)) && !disabled.includes(name)
}

async function missingPrograms ({ metadata }: FrontMatter, { directory, options }: SkillDirectory): Promise<string[]> {
  const missing: string[] = []
  for (const program of metadata?.requires?.bins ?? []) {
    if (!await isInstalled(program, directory, options.path)) missing.push(program)
  }
  return missing
}

/** No tools without a `tools.json` (S2, S39); undefined with one that can't be used. */
async function readTools ({ directory, options, schemas }: SkillDirectory): Promise<{ tools?: Tool[], findings: Finding[] }> {
  const file = join(directory, 'tools.json')
  try {
    const text = await readSkillText(directory, 'tools.json')
    if (text === undefined) return { tools: [], findings: [] }
    return await skillTools({ contents: parseToolsFile(text), file, directory, options, schemas })
  } catch (error) {
    return { findings: [faultFinding(error, file)] }
  }
}

function faultFinding (error: unknown, file: string): Finding {
  if (!(error instanceof ManifestFault)) throw error
  const { rule, message, place } = error
  return { severity: 'error', file, rule, message, ...place }
}
