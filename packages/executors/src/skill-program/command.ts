import { lstat, stat } from 'node:fs/promises'
import { join, posix } from 'node:path'
import type { RunnableSkill } from '@toolyard/manifests'
import { findOnPath } from '@toolyard/sandbox'
import { skillPath } from '@toolyard/workspace'
import { failure, type Failure } from '../run/outcome.ts'
import { withPlaceFirst, type PlacedSkill } from './place.ts'
import { interpreterOf } from './script.ts'

interface SkillProgram {
  ok: true
  /** Absolute path. */
  program: string
  name: string
  args: string[]
}

/** Where a skill is, and where its programs see it. */
export interface SkillView extends PlacedSkill {
  skill: RunnableSkill
  filesDir: string
  /** The PATH of its processes. */
  path: string
}

/** Names of one program. */
const sameProgram: ReadonlyMap<string, string> = new Map([['python', 'python3'], ['nodejs', 'node']])

/**
 * The program of a call: a script of the skill, or a program that the operator allows, each below what `allowed-tools` of
 * the skill leaves. Arguments that name a file of the skill become its path.
 */
export async function programOf (argv: readonly string[], view: SkillView): Promise<SkillProgram | Failure> {
  const [first = '', ...rest] = argv.map(element => withPlaceFirst(element, view))
  if (argv.some(element => element.includes('\0'))) return failure('INVALID_ARGUMENTS', 'argv must not hold a NUL byte')
  const script = await scriptAt(first, view)
  const args = await Promise.all(rest.map(async element => await scriptAt(element, view) ?? element))
  if (script !== undefined) return await runScript(script, args, view)
  if (isPathOf(first)) return failure('NOT_ALLOWED', `the skill has no script ${JSON.stringify(first.slice(0, 200))}: argv[0] is a file in its scripts/, or ${programsText(view)}`)
  if (!isListed(first, view.skill.programs)) return failure('NOT_ALLOWED', `program ${JSON.stringify(first.slice(0, 200))} is not in SKILL_PROGRAMS: argv[0] is a file in the skill's scripts/, or ${programsText(view)}`)
  return ceilingFault(first, first, view) ?? startOf([first, ...await withOwnFile(args, view)], view)
}

/** A shell command line, where `allowed-tools` leaves the skill everything. */
export function shellOf (command: string, view: SkillView): SkillProgram | Failure {
  if (command.includes('\0')) return failure('INVALID_ARGUMENTS', 'command must not hold a NUL byte')
  if (view.skill.ceiling !== undefined) return failure('NOT_ALLOWED', `allowed-tools of the skill leaves ${ceilingText(view.skill.ceiling)}: write argv`)
  const bash = findOnPath('bash', view.path)
  return startOf([bash === undefined ? 'sh' : 'bash', '-c', command], view)
}

async function runScript (script: string, args: string[], view: SkillView): Promise<SkillProgram | Failure> {
  const named = script.slice(view.place.length + 1)
  const real = await skillPath(view.skill.directory, named)
  const interpreter = real === undefined ? undefined : await interpreterOf(real)
  if (interpreter === undefined) return failure('NOT_ALLOWED', `the skill has no script ${JSON.stringify(named)}`)
  if (!interpreter.ok) return failure('TOOL_UNAVAILABLE', `script ${JSON.stringify(named)} can't run: ${interpreter.reason}`)
  const [program] = interpreter.words
  const fault = ceilingFault(named, program, view)
  if (fault !== undefined) return fault
  return program === undefined ? { ok: true, program: script, name: script, args } : startOf([...interpreter.words, script, ...args], view)
}

function startOf ([name = '', ...args]: string[], { path }: SkillView): SkillProgram | Failure {
  // Python finds itself by the name that it is started by, so that the other name is told to it.
  for (const each of [name, sameProgram.get(name) ?? name]) {
    const program = findOnPath(each, path)
    if (program !== undefined) return { ok: true, program, name: each, args }
  }
  return failure('TOOL_UNAVAILABLE', `program ${JSON.stringify(name)} is not on this machine; toolyard doctor says how to install it`)
}

/** The path of a script of the skill, as processes see it: `scripts/x.py`, `./scripts/x.py`, or by its whole path. */
async function scriptAt (element: string, { skill, place }: SkillView): Promise<string | undefined> {
  const own = element.startsWith(`${place}/`) ? element.slice(place.length + 1) : element.replace(/^(?:\.\/)+/, '')
  if (!own.startsWith('scripts/')) return undefined
  const real = await skillPath(skill.directory, own)
  if (real === undefined) return undefined
  const scripts = `${await skillPath(skill.directory, '')}/scripts/`
  return real.startsWith(scripts) && await stat(real).then(found => found.isFile(), () => false) ? `${place}/${own}` : undefined
}

/** A file for an interpreter may lie anywhere in the skill; a file of the caller of that name comes first. */
async function withOwnFile (args: readonly string[], { skill, place, filesDir }: SkillView): Promise<readonly string[]> {
  const at = args.findIndex(element => !element.startsWith('-'))
  const named = args[at]?.replace(/^(?:\.\/)+/, '')
  if (named === undefined || args.slice(0, at).some(element => ['-c', '-e', '-m'].includes(element))) return args
  const real = await skillPath(skill.directory, named)
  const isOwn = real !== undefined && await stat(real).then(found => found.isFile(), () => false)
  const isTheirs = await lstat(join(filesDir, named)).then(() => true, () => false)
  return isOwn && !isTheirs ? args.with(at, `${place}/${named}`) : args
}

function isListed (name: string, programs: readonly string[]): boolean {
  return programs.includes(name) || programs.includes(sameProgram.get(name) ?? name)
}

function isPathOf (element: string): boolean {
  return element.includes('/')
}

function ceilingFault (named: string, program: string | undefined, view: SkillView): Failure | undefined {
  const { ceiling } = view.skill
  if (ceiling === undefined) return undefined
  const names = [named, ...program === undefined ? [] : [program]].map(each => posix.normalize(each))
  const isLeft = ceiling.some(each => names.some(name => isMeant(ownPath(each, view), name)))
  return isLeft ? undefined : failure('NOT_ALLOWED', `allowed-tools of the skill leaves ${ceilingText(ceiling)}, not ${JSON.stringify(named)}`)
}

/** A script as a front matter names it, `./scripts/x.sh` or by a place of other programs, is one of the skill: `scripts/x.sh`. */
function ownPath (written: string, view: SkillView): string {
  const whole = withPlaceFirst(written, view)
  return posix.normalize(whole.startsWith(`${view.place}/`) ? whole.slice(view.place.length + 1) : whole)
}

/** A `*` at the end stands for any rest: `scripts/*`. */
function isMeant (written: string, name: string): boolean {
  const plain = (each: string): string => sameProgram.get(each) ?? each
  return written.endsWith('*') ? name.startsWith(written.slice(0, -1)) : plain(written) === plain(name)
}

function ceilingText (ceiling: readonly string[]): string {
  return ceiling.length === 0 ? 'no programs' : ceiling.slice(0, 20).join(', ')
}

function programsText ({ skill: { programs } }: SkillView): string {
  return programs.length === 0 ? 'a program of SKILL_PROGRAMS, which is empty' : `one of ${programs.slice(0, 20).join(', ')}`
}
