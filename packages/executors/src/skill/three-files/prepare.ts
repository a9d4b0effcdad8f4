import { dirname } from 'node:path'
import { nextTurn } from '@toolyard/runtime'
import type { MappedValue, SkillExecution } from '@toolyard/manifests'
import type { WorkspacePart } from '@toolyard/sandbox'
import { failure, type Failure } from '../../run/outcome.ts'
import { denialOf } from './deny.ts'
import { argumentTexts, helperText, type SkillCall } from './helper.ts'
import { insidePath, type FilePlaces } from './inside-path.ts'
import { isDirectory, partOf, shownParts } from './parts.ts'
import { dashRefusal, givenValue, isOn, piecesOf } from './values.ts'

/** 100 of them take bubblewrap 0.1 s, 300 take it 1 s. */
const mostParts = 100

/** Characters of a value that take some milliseconds to look at. */
const textAtOnce = 65_536

/** A value that is ready to be placed: its elements, and directories that must be there for what is written. */
interface PlacedValue {
  arg: MappedValue
  /** Of a value that is split, one for each word. */
  elements: readonly string[]
}

/** The arguments of a call, checked and resolved. */
export interface Prepared {
  ok: true
  subcommand: string
  argv: ReadonlyArray<string | PlacedValue>
  stdin: string
  /** Texts of files, by their parameters. */
  files: ReadonlyMap<MappedValue, string>
  /** Where the program runs, as processes see it. */
  cwd: string
  /** Directories, as processes see them, that what is written needs. */
  parents: readonly string[]
  /** All that the program is shown of the workspace; absent: what the tool's permissions say. */
  parts: readonly WorkspacePart[] | undefined
  /** The arguments with the skill's defaults, and paths as processes see them. */
  effective: Readonly<Record<string, unknown>>
}

/**
 * Reads the arguments of a call: every value is checked before anything runs, then values are resolved, paths are followed
 * and looked at, and what a pattern forbids is refused.
 */
export async function prepare (execution: SkillExecution, skill: SkillCall): Promise<Prepared | Failure> {
  const { args, filesDir, workspaceDir } = skill.call
  const given = new Map<MappedValue, string | undefined>()
  for (const arg of execution.args) {
    if (arg.kind === 'literal' || arg.kind === 'flagifboolean') continue
    const value = givenValue(arg, args)
    if (!value.ok) return value
    // One parameter may stand in many of them.
    if (value.kind === 'text' && value.text.length > textAtOnce) await nextTurn()
    if (value.kind !== 'skipped') given.set(arg, value.kind === 'text' ? value.text : undefined)
  }
  const effective: Record<string, unknown> = { ...defaultsOf(execution), ...present(args) }
  const values = new Map<MappedValue, { text: string, elements: string[] }>()
  const parents = new Set<string>()
  const parts: WorkspacePart[] = []
  let cwd = workspaceDir
  for (const [arg, raw] of given) {
    const resolved = await resolvedText(arg, raw ?? '', { effective, skill })
    if (!resolved.ok) return resolved
    const { text } = resolved
    const refused = raw === text || arg.kind === 'stdin' || arg.kind === 'tempfile' ? undefined : dashRefusal(arg, text)
    if (refused !== undefined) return refused
    const followed = await follow(arg, text, { real: filesDir, seen: workspaceDir })
    if (!followed.ok) return followed
    for (const parent of followed.parents) parents.add(parent)
    parts.push(...followed.parts)
    if (arg.kind === 'workingdir') cwd = followed.elements[0] ?? cwd
    // An optional flag whose resolver finds nothing is left out.
    if (text !== '' || raw !== undefined || arg.kind !== 'flag') values.set(arg, { text, elements: followed.elements })
    if (arg.path === 'read' || arg.path === 'write') effective[arg.param] = followed.elements.join(' ')
  }
  const denied = await firstDenial(execution, { given, values, cwd, effective, skill })
  if (denied !== undefined) return denied
  const shown = shownParts(execution, parts, { cwd, workspace: workspaceDir })
  if ((shown ?? []).length > mostParts) return failure('INVALID_ARGUMENTS', `a call must not name more than ${mostParts} paths; a directory of them is one`)
  return { ok: true, ...placed(execution, args, values), cwd, parents: [...parents], parts: shown, effective }
}

function present (args: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined && value !== null))
}

function defaultsOf ({ args }: SkillExecution): Record<string, unknown> {
  return Object.fromEntries(args.flatMap(arg => arg.kind === 'literal' || arg.absentDefault === undefined ? [] : [[arg.param, arg.absentDefault]]))
}

async function resolvedText (
  { param, resolver }: MappedValue, text: string, { effective, skill }: { effective: Record<string, unknown>, skill: SkillCall }
): Promise<{ ok: true, text: string } | Failure> {
  if (resolver === undefined) return { ok: true, text }
  const replacements = { ...argumentTexts(effective), param: text }
  const answer = await helperText(`parameter ${param} can't be resolved`, resolver, { skill, replacements })
  return answer.ok && answer.text === '' ? { ok: true, text } : answer
}

interface Followed {
  ok: true
  elements: string[]
  parents: string[]
  parts: WorkspacePart[]
}

/** The paths of a value as processes see them, without links, and the directories that are to be made for them. */
async function follow (arg: MappedValue, text: string, places: FilePlaces): Promise<Followed | Failure> {
  const pieces = piecesOf(arg, text)
  const elements: string[] = []
  const parents: string[] = []
  const parts: WorkspacePart[] = []
  if (arg.path !== 'read' && arg.path !== 'write') return { ok: true, elements: pieces, parents, parts }
  for (const piece of pieces) {
    if (piece === '') {
      if (arg.kind !== 'workingdir') elements.push(piece)
      continue
    }
    const path = await insidePath(arg.param, piece, places)
    if (!path.ok) return path
    if (arg.kind === 'workingdir' && !await isDirectory(path.real)) return failure('INVALID_ARGUMENTS', `parameter ${arg.param} is no directory: ${JSON.stringify(piece.slice(0, 200))}`)
    if (arg.path === 'write' && arg.kind !== 'workingdir' && !await isDirectory(dirname(path.real))) parents.push(dirname(path.seen))
    elements.push(path.seen)
    parts.push(await partOf(arg, path))
  }
  return { ok: true, elements, parents, parts }
}

async function firstDenial (
  { args }: SkillExecution,
  { given, values, cwd, effective, skill }: {
    given: ReadonlyMap<MappedValue, string | undefined>,
    values: ReadonlyMap<MappedValue, { text: string, elements: string[] }>,
    cwd: string
    effective: Record<string, unknown>,
    skill: SkillCall
  }
): Promise<Failure | undefined> {
  const replacements = argumentTexts(effective)
  for (const arg of args) {
    if (arg.kind === 'literal' || arg.deny === undefined) continue
    const value = arg.kind === 'flagifboolean' ? undefined : values.get(arg)
    const texts = arg.kind === 'flagifboolean' ? [] : [given.get(arg) ?? '', value?.text ?? '', ...value?.elements ?? []]
    const denied = await denialOf(skill, { arg, deny: arg.deny, texts, cwd, replacements })
    if (denied !== undefined) return denied
    if (texts.some(text => text.length > textAtOnce)) await nextTurn()
  }
  return undefined
}

function placed (
  execution: SkillExecution, args: Record<string, unknown>, values: ReadonlyMap<MappedValue, { text: string, elements: string[] }>
): Pick<Prepared, 'subcommand' | 'argv' | 'stdin' | 'files'> {
  const argv: Array<string | PlacedValue> = []
  const files = new Map<MappedValue, string>()
  let { subcommand } = execution
  let stdin = ''
  let left = false
  let isSeparated = false
  for (const arg of execution.args) {
    if (arg.kind === 'literal') {
      argv.push(arg.value)
      continue
    }
    if (arg.kind === 'flagifboolean') {
      const on = isOn(arg, args)
      if (arg.subcommandOverride !== undefined) {
        if (on) subcommand = arg.subcommandOverride
        continue
      }
      const flag = on ? arg.flagIfTrue : arg.flagIfFalse
      if (flag !== undefined) argv.push(flag)
      continue
    }
    const value = values.get(arg)
    if (arg.kind === 'positional' && value === undefined) left = true
    if (value === undefined || arg.kind === 'workingdir') continue
    if (arg.kind === 'stdin') stdin = value.text
    else if (arg.kind === 'tempfile') {
      files.set(arg, value.text)
      argv.push({ arg, elements: [] })
    } else {
      if (arg.separated && left && !isSeparated) {
        argv.push('--')
        isSeparated = true
      }
      argv.push({ arg, elements: value.elements })
    }
  }
  return { subcommand, argv, stdin, files }
}
