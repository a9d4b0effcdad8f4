import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { skillDocuments } from '@toolyard/runtime'
import { ManifestFault, wholeFinding, type Finding } from '../finding/finding.ts'
import type { Layer } from '../layer/layer.ts'
import type { Schemas } from '../schema/schemas.ts'
import type { Tool } from '../tool/tool.ts'
import { parseSkillDocument, type FrontMatter } from './text/front-matter.ts'
import { activeVersion, companions, hasVersions, isList, mixedFormFault } from './three-files/layout.ts'
import { threeFileTools } from './three-files/three-file-tools.ts'
import { versionFindings } from './three-files/version-hash.ts'
import type { SkillOptions } from './tools/options.ts'
import { isSkillName, type Skill } from '../layer/skill.ts'
import { readSkillText } from './text/skill-text.ts'
import { manifestLimits } from '../tool/limits.ts'
import { skillTools } from './tools/skill-tools.ts'
import { readToolsFile } from './tools/tools-text.ts'
import { isSkillDirectory, linkedOut, skillDocument, skillTree } from './tree.ts'
import { isInstalled } from '../program/installed.ts'

interface SkillDirectory {
  /** Absolute path: a skill, or a directory of skills. */
  directory: string
  options: SkillOptions
  schemas: Schemas
  /** Whether every fault is told, also where the first one decides. */
  everyFault: boolean
}

/** At most one skill, and its faults. */
interface SkillReading {
  skill?: Skill
  findings: Finding[]
  /** The directory of the version that was read, where a skill has versions. */
  version?: string
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

/** Reads the skill that a `tools.json` belongs to. @throws ManifestFault when there is no SKILL.md beside it. */
export async function readSkillOf (file: string, tools: Omit<SkillDirectory, 'directory'>): Promise<Layer> {
  const reading = await readSkill({ ...tools, directory: dirname(file) })
  if (reading === undefined) throw new ManifestFault('S1', 'this is the tools.json of a skill, but there is no SKILL.md beside it', { fix: 'Add a SKILL.md.' })
  return layerOf([reading], [dirname(file)])
}

/** `directories` are all that were looked into: one that holds no skill may hold one later. */
function layerOf (readings: readonly SkillReading[], directories: readonly string[]): Layer {
  return {
    entries: [],
    files: [...directories, ...readings.flatMap(({ version }) => version ?? [])]
      .flatMap(directory => [directory, ...[...skillDocuments, 'tools.json', ...companions, 'active'].map(name => join(directory, name))]),
    skills: readings.flatMap(({ skill }) => skill === undefined ? [] : [skill]),
    findings: readings.flatMap(({ findings }) => findings)
  }
}

/** Undefined for a directory that has neither a SKILL.md nor versions of a skill. */
async function readSkill (source: SkillDirectory): Promise<SkillReading | undefined> {
  const { directory } = source
  const versioned = await hasVersions(directory)
  if (await skillDocument(directory) !== undefined) {
    const reading = await readContent(source, basename(directory))
    return versioned && reading !== undefined ? { ...reading, findings: [...reading.findings, ownDocument(directory)] } : reading
  }
  if (!versioned) return undefined
  try {
    const version = await activeVersion(directory)
    const reading = await readContent({ ...source, directory: version }, basename(directory))
    if (reading === undefined) return { findings: [wholeFinding(new ManifestFault('SN37', 'the active version has no SKILL.md', { fix: 'Add it.' }), version)], version }
    return { ...reading, findings: [...reading.findings, ...await versionFindings(version)], version }
  } catch (error) {
    if (!(error instanceof ManifestFault)) throw error
    return { findings: [wholeFinding(error, directory)] }
  }
}

function ownDocument (file: string): Finding {
  return { severity: 'warning', file, rule: 'SN37', message: 'has a SKILL.md of its own, so its versions are not read', fix: 'Take the SKILL.md away, or versions and active.' }
}

/** Undefined for a directory without a SKILL.md. */
async function readContent (source: SkillDirectory, ownName: string): Promise<SkillReading | undefined> {
  const { directory, options, everyFault } = source
  const document = await skillDocument(directory) ?? 'SKILL.md'
  const file = join(directory, document)
  const faults: ManifestFault[] = []
  try {
    const text = await readSkillText(directory, document, manifestLimits.skillBytes)
    if (text === undefined) return undefined
    const { frontMatter, body, remarks, unknownKeys } = await parseSkillDocument(text, faults)
    const name = frontMatter.name ?? ownName
    if (!isWanted(name, options)) return { findings: [] }
    const [first] = faults
    if (first !== undefined && !everyFault) return { findings: [wholeFinding(first, file)] }
    const programs = await missingPrograms(frontMatter, { directory, path: options.path })
    const findings: Finding[] = [
      ...faults.map(fault => wholeFinding(fault, file)),
      ...[...remarks, ...everyFault ? unknownKeys : []].map(remark => ({ severity: 'warning' as const, file, ...remark })),
      ...programs.missing.length === 0 ? [] : [skipped(name, programs.missing, file)]
    ]
    if (programs.missing.length > 0 && !everyFault) return { findings }
    const { tools, findings: others } = await readTools(source, { frontMatter, programs })
    findings.push(...others)
    if (tools?.length === 0) findings.push(...await linkedOut(directory))
    if (tools === undefined || first !== undefined || programs.missing.length > 0) return { findings }
    const isDescribed = frontMatter.description != null && frontMatter.description !== ''
    if (everyFault && tools.length === 0 && !isDescribed) findings.push(undescribed(file))
    if (everyFault && tools.length === 0 && !isSkillName(frontMatter.name)) findings.push(misnamed(file, frontMatter.name))
    const hasFiles = tools.length === 0 && isDescribed && await readSkillText(directory, 'tools.json') === undefined && await holdsMore(directory, document)
    const told = { name, description: frontMatter.description ?? '', frontMatter: { ...frontMatter }, text: body }
    return { skill: { ...told, digest: digestOf(told), file, hasFiles, tools }, findings }
  } catch (error) {
    if (!(error instanceof ManifestFault)) throw error
    const others = everyFault ? await readTools(source, { frontMatter: {}, programs: { missing: [] } }) : { findings: [] }
    return { findings: [wholeFinding(error, file), ...others.findings] }
  }
}

function digestOf (told: Pick<Skill, 'name' | 'description' | 'frontMatter' | 'text'>): string {
  return createHash('sha256').update(JSON.stringify(told)).digest('base64url')
}

/** Whether there is something that is shown, beside its text. */
async function holdsMore (directory: string, document: string): Promise<boolean> {
  const names = await readdir(directory).catch((): string[] => [])
  return names.some(name => name !== document && !name.startsWith('.'))
}

function isWanted (name: string, { enabled, disabled }: SkillOptions): boolean {
  return (enabled === 'all' || enabled.includes(name)) && !disabled.includes(name)
}

/** No tools without a `tools.json`; undefined with one that can't be used. */
async function readTools (
  { directory, options, schemas, everyFault }: SkillDirectory,
  { frontMatter, programs }: { frontMatter: FrontMatter, programs: ProgramState }
): Promise<{ tools?: readonly Tool[], findings: Finding[] }> {
  const file = join(directory, 'tools.json')
  try {
    const text = await readSkillText(directory, 'tools.json')
    if (text === undefined) return { tools: [], findings: [] }
    if (isList(text)) {
      const needs = { programs: programsOf(frontMatter), binGroup: programs.group }
      return await threeFileTools({ directory, toolsText: text, ...needs, options, schemas })
    }
    const mixed = await mixedFormFault(directory, text)
    if (mixed !== undefined) return { findings: [wholeFinding(mixed, file)] }
    const { contents, faults } = await readToolsFile(text)
    if (contents === undefined) return { findings: (everyFault ? faults : faults.slice(0, 1)).map(fault => wholeFinding(fault, file)) }
    return await skillTools({ contents, file, directory, options, schemas, everyFault })
  } catch (error) {
    if (!(error instanceof ManifestFault)) throw error
    return { findings: [wholeFinding(error, file)] }
  }
}

/** Programs of a skill that this machine lacks, and which of its alternatives is there. */
interface ProgramState {
  missing: string[]
  /** Place of the first list all of whose programs are there; absent where the skill names no alternatives. */
  group?: number
}

/** All programs that a skill names, whatever it needs of them. */
function programsOf ({ metadata }: FrontMatter): string[] {
  return (metadata?.requires?.bins ?? []).flat()
}

/** Looks for the programs: for all of a plain list, for those of one list of several. */
async function missingPrograms (
  { metadata }: FrontMatter, { directory, path }: { directory: string, path: string }
): Promise<ProgramState> {
  const bins = metadata?.requires?.bins ?? []
  const lacking = async (names: readonly string[]): Promise<string[]> => {
    const there = await Promise.all(names.map(async name => await isInstalled(name, directory, path)))
    return names.filter((_, at) => there[at] === false)
  }
  const groups = bins.flatMap(each => typeof each === 'string' ? [] : [each])
  if (groups.length === 0) return { missing: await lacking(bins.flatMap(each => typeof each === 'string' ? [each] : [])) }
  for (const [group, names] of groups.entries()) if ((await lacking(names)).length === 0) return { missing: [], group }
  return { missing: [groups.map(names => names.join(' and ')).join(', or ')] }
}

/** For whoever validates: of a skill with tools, models see those. */
function undescribed (file: string): Finding {
  return {
    severity: 'note',
    file,
    rule: 'skill/front-matter',
    message: 'front matter: there is no description, from which a model tells when to use the skill',
    fix: "Write description: what it is for, and when to use it. Without one activate_skill doesn't offer it, and MCP doesn't serve its files."
  }
}

/** The service's log says it too, but only once an MCP client has asked. */
function misnamed (file: string, name: string | null | undefined): Finding {
  return {
    severity: 'note',
    file,
    rule: 'skill/front-matter',
    message: `front matter: ${name == null ? 'there is no name' : `${JSON.stringify(name)} is no name of an Agent Skill`}, so MCP doesn't serve its files`,
    fix: 'Write name: lower case letters, digits and single hyphens, at most 64, and the same as the name of its directory.'
  }
}

/** A warning while the service runs, since a program may come; an error to a validation, since nothing of the skill is served. */
function skipped (name: string, missing: readonly string[], file: string): Finding {
  const message = `skill ${JSON.stringify(name)} is skipped: it needs ${missing.join(', ')}`
  const fix = missing.some(program => /^\S*[|,]\S*$/.test(program))
    ? 'Name each program by itself, and alternatives as lists: [[A], [B]].'
    : 'Install what is missing, or add its directory to PATH.'
  return { severity: 'warning', nonconforming: true, file, rule: 'SC22', path: ['metadata', 'requires', 'bins'], message, fix }
}
