import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ManifestFault, wholeFinding, type Finding } from '../finding/finding.ts'
import type { Layer } from '../layer/layer.ts'
import type { Schemas } from '../schema/schemas.ts'
import type { Tool } from '../tool/tool.ts'
import { parseSkillDocument, type FrontMatter } from './text/front-matter.ts'
import { isInstalled } from '../program/installed.ts'
import { newerFormFault, versionsFault } from './newer/newer-layout.ts'
import type { SkillOptions } from './tools/options.ts'
import type { Skill } from '../layer/skill.ts'
import { readSkillText } from './text/skill-text.ts'
import { manifestLimits } from '../tool/limits.ts'
import { skillTools } from './tools/skill-tools.ts'
import { readToolsFile } from './tools/tools-text.ts'
import { isSkillDirectory, linkedOut, skillDocument, skillDocuments, skillTree } from './tree.ts'

export interface SkillDirectory {
  /** Absolute path: a skill, or a directory of skills. */
  directory: string
  options: SkillOptions
  schemas: Schemas
  /** Whether every fault is told, also where the first one decides. */
  everyFault: boolean
}

/** What a directory yields: at most one skill, and what is wrong with it. */
interface SkillReading {
  skill?: Skill
  findings: Finding[]
}

/**
 * Reads a skill, or all skills below a directory, in the order of their paths. The
 * layer holds skills, not tools: `joinSkills` decides which skills stay. A skill that can't be used is a finding and is
 * skipped as a whole; the others are not affected.
 *
 * @throws ManifestFault when the directory can't be read.
 */
export async function readSkills (source: SkillDirectory): Promise<Layer> {
  if (await isSkillDirectory(source.directory)) return layerOf([await readSkill(source) ?? { findings: [] }], [source.directory])
  const { skills, directories, findings } = await skillTree(source.directory)
  const readings: SkillReading[] = [{ findings }]
  for (const directory of skills) {
    const reading = await readSkill({ ...source, directory })
    if (reading !== undefined) readings.push(reading)
  }
  return layerOf(readings, directories)
}

/**
 * Reads the skill that a `tools.json` belongs to.
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
    files: directories.flatMap(directory => [directory, ...[...skillDocuments, 'tools.json'].map(name => join(directory, name))]),
    skills: readings.flatMap(({ skill }) => skill === undefined ? [] : [skill]),
    findings: readings.flatMap(({ findings }) => findings)
  }
}

/** Undefined for a directory that has neither a SKILL.md nor versions of a skill. */
async function readSkill (source: SkillDirectory): Promise<SkillReading | undefined> {
  const { directory, options, everyFault } = source
  const document = await skillDocument(directory) ?? 'SKILL.md'
  const file = join(directory, document)
  const faults: ManifestFault[] = []
  try {
    const text = await readSkillText(directory, document, manifestLimits.skillBytes)
    const versions = await versionsFault(directory)
    if (text === undefined) return versions === undefined ? undefined : { findings: [wholeFinding(versions, directory)] }
    const { frontMatter, body, remarks, unknownKeys } = await parseSkillDocument(text, faults)
    const name = frontMatter.name ?? basename(directory)
    if (!isWanted(name, options)) return { findings: [] }
    const [first] = faults
    if (first !== undefined && !everyFault) return { findings: [wholeFinding(first, file)] }
    const missing = await missingPrograms(frontMatter, source)
    const findings: Finding[] = [
      ...faults.map(fault => wholeFinding(fault, file)),
      ...[...remarks, ...everyFault ? unknownKeys : []].map(remark => ({ severity: 'warning' as const, file, ...remark })),
      ...missing.length === 0 ? [] : [skipped(name, missing, file)]
    ]
    if (missing.length > 0 && !everyFault) return { findings }
    const { tools, findings: others } = await readTools(source, versions)
    findings.push(...others)
    if (tools?.length === 0) findings.push(...await linkedOut(directory))
    if (tools === undefined || first !== undefined || missing.length > 0) return { findings }
    const isDescribed = frontMatter.description != null && frontMatter.description !== ''
    const hasFiles = tools.length === 0 && isDescribed && await readSkillText(directory, 'tools.json') === undefined && await holdsMore(directory, document)
    return { skill: { name, description: frontMatter.description ?? '', frontMatter: { ...frontMatter }, text: body, file, hasFiles, tools }, findings }
  } catch (error) {
    if (!(error instanceof ManifestFault)) throw error
    const others = everyFault ? await readTools(source, undefined) : { findings: [] }
    return { findings: [wholeFinding(error, file), ...others.findings] }
  }
}

/** Whether there is something that is shown, beside its text. */
async function holdsMore (directory: string, document: string): Promise<boolean> {
  const names = await readdir(directory).catch((): string[] => [])
  return names.some(name => name !== document && !name.startsWith('.'))
}

function isWanted (name: string, { enabled, disabled }: SkillOptions): boolean {
  return (enabled === 'all' || enabled.includes(name)) && !disabled.includes(name)
}

/** A warning while the service runs, since a program may come; an error to a validation, since nothing of the skill is served. */
function skipped (name: string, missing: readonly string[], file: string): Finding {
  const message = `skill ${JSON.stringify(name)} is skipped: it needs ${missing.join(', ')}`
  const fix = missing.some(program => /[|,\s]/.test(program))
    ? 'Name each program by itself. Alternatives are not read: leave them out of bins, and say in the text which programs do.'
    : 'Install what is missing, or add its directory to PATH.'
  return { severity: 'warning', nonconforming: true, file, rule: 'SC22', path: ['metadata', 'requires', 'bins'], message, fix }
}

async function missingPrograms ({ metadata }: FrontMatter, { directory, options }: SkillDirectory): Promise<string[]> {
  const missing: string[] = []
  for (const program of metadata?.requires?.bins ?? []) {
    if (!await isInstalled(program, directory, options.path)) missing.push(program)
  }
  return missing
}

/** No tools without a `tools.json`; undefined with one that can't be used. */
async function readTools (
  { directory, options, schemas, everyFault }: SkillDirectory, versions: ManifestFault | undefined
): Promise<{ tools?: readonly Tool[], findings: Finding[] }> {
  const file = join(directory, 'tools.json')
  try {
    const text = await readSkillText(directory, 'tools.json')
    if (text === undefined) return { tools: [], findings: versions === undefined ? [] : [{ ...wholeFinding(versions, directory), severity: 'warning' }] }
    const newer = await newerFormFault(directory, text)
    if (newer !== undefined) return { findings: [wholeFinding(newer, file)] }
    const { contents, faults } = await readToolsFile(text)
    if (contents === undefined) return { findings: (everyFault ? faults : faults.slice(0, 1)).map(fault => wholeFinding(fault, file)) }
    return await skillTools({ contents, file, directory, options, schemas, everyFault })
  } catch (error) {
    if (!(error instanceof ManifestFault)) throw error
    return { findings: [wholeFinding(error, file)] }
  }
}
