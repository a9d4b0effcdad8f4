import { jobTypeOf } from '../../tool/job-type.ts'
import type { RunnableSkill, SkillFilesRun } from '../../tool/skill-run.ts'
import type { Permission, Tool } from '../../tool/tool.ts'
import { permissions as allPermissions, withoutUndefined } from '@toolyard/contract/terms'
import { createHash } from 'node:crypto'
import { dirname } from 'node:path'
import { isOffered, type Skill, type SkillSettings } from '../../layer/skill.ts'
import type { SkillOptions } from '../tools/options.ts'

/** The namespace of the tools of all skills together; those of one skill belong to that. */
export const skillsNamespace = 'skills'
/** Characters that the list of skills may take in the description of a tool: providers refuse longer ones. */
const listChars = 700
/** Those that it may take in the description of a parameter, where the other one has no room. */
const longListChars = 6_000
/** Characters of a description that say something. */
const leastShare = 40
const off = 'programs of skills do not run here: the operator switches them on with SKILLS_ALLOW_SCRIPTS=1'

/** For agents that use Agent Skills: their texts, their files, and their programs. */
export function agentSkillTools (skills: readonly Skill[], settings: ReadonlyMap<string, SkillSettings>, options: SkillOptions): Tool[] {
  const offered = skills.filter(isOffered)
  const activating = offered.length === 0 ? [] : [activateTool(offered, settings, options)]
  return [...activating, readTool(skills), runTool(skills.filter(({ hasFiles }) => hasFiles), settings, options)]
}

function activateTool (
  skills: readonly Skill[], settings: ReadonlyMap<string, SkillSettings>, { allowScripts, shell }: SkillOptions
): Tool {
  const unixSockets = skills.map(({ name }) => name).filter(name => settings.get(name)?.unixSockets === true)
  return {
    ...toolOf('activate_skill', skills),
    description: `Load a skill before you do what it is for: returns its instructions, a list of its files, and how to run its programs.${fits(skills, listChars) ? ` ${listOf(skills, listChars)}` : ''}`,
    parameters: objectOf({ name: { ...nameOf(skills), ...!fits(skills, listChars) && { description: `Name of the skill. ${listOf(skills, longListChars)}` } } }, ['name']),
    run: filesRun('activate', skills, { runs: allowScripts, shell: allowScripts && shell, ...unixSockets.length > 0 && { unixSockets } })
  }
}

function readTool (skills: readonly Skill[]): Tool {
  return {
    ...toolOf('read_skill', skills),
    description: 'Read a skill. Call when you need to use a skill and its tools. With path it reads one of its files.',
    parameters: {
      type: 'object',
      properties: { skill_name: { type: 'string' }, path: { type: 'string', description: 'A file of the skill, such as references/forms.md, or a directory.' } },
      required: ['skill_name']
    },
    run: filesRun('read', skills)
  }
}

function runTool (skills: readonly Skill[], settings: ReadonlyMap<string, SkillSettings>, options: SkillOptions): Tool {
  const runnable = skills.map((skill): [string, RunnableSkill] => [skill.name, runnableSkill(skill, settings.get(skill.name), options)])
  const timeouts = runnable.map(([, { timeoutSec }]) => timeoutSec)
  const permissions = commonPermissions(runnable.map(([, skill]) => skill.permissions))
  const hasShell = options.shell
  const command = { type: 'string', minLength: 1, maxLength: 100_000, description: 'A shell command line, in place of argv, in the working directory. Files of the skill are below $SKILL_DIR, as in python3 "$SKILL_DIR/scripts/convert.py".' }
  const argv = {
    type: 'array',
    minItems: 1,
    maxItems: 1_000,
    items: { type: 'string' },
    description: `The program and its arguments, without a shell: a script such as scripts/convert.py${options.programs.length === 0 ? '' : `, or one of ${options.programs.slice(0, 20).join(', ')}`}. Files of the skill are named as in the skill, others in the working directory.`
  }
  return {
    ...toolOf('skill_run', skills),
    idempotent: false,
    description: 'Run a program of a skill, as its instructions say. The working directory has your files; the directory of the skill is read-only.',
    parameters: objectOf({ skill: nameOf(skills), argv, ...hasShell && { command }, stdin: { type: 'string', description: 'What the program reads on stdin.' } }, hasShell ? ['skill'] : ['skill', 'argv']),
    ...permissions !== undefined && { permissions },
    ...timeouts.every(each => each !== undefined) && { timeoutSec: Math.max(...timeouts) },
    ...!options.allowScripts && { unavailable: off },
    run: { kind: 'skill-run', skills: Object.fromEntries(runnable), shell: hasShell }
  }
}

function runnableSkill (
  { file, frontMatter, audit }: Skill, settings: SkillSettings | undefined, { programs }: SkillOptions
): RunnableSkill {
  const { permissions, network, secrets, limits, timeoutSec, python } = settings ?? {}
  const { programs: own = [], envPassthrough = [], overlay = false, unixSockets = false } = settings ?? {}
  const ceiling = allowedPrograms(frontMatter['allowed-tools'])
  return {
    directory: dirname(file),
    programs: [...new Set([...programs, ...own])],
    envPassthrough,
    overlay,
    unixSockets,
    ...withoutUndefined({ ceiling, audit, permissions, network, secrets, limits, timeoutSec, python })
  }
}

/** Every call holds these; the call of one skill may hold more. Undefined where a skill has the service's default. */
function commonPermissions (lists: ReadonlyArray<readonly Permission[] | undefined>): readonly Permission[] | undefined {
  if (lists.some(list => list === undefined)) return undefined
  return allPermissions.filter(permission => lists.every(list => list?.includes(permission) === true))
}

function filesRun (action: SkillFilesRun['action'], skills: readonly Skill[], told: Pick<SkillFilesRun, 'runs' | 'shell' | 'unixSockets'> = {}): SkillFilesRun {
  return {
    kind: 'read-skill',
    action,
    ...told,
    skills: Object.fromEntries(skills.map(skill => [skill.name, skill.text])),
    version: versionOfSkills(skills),
    directories: Object.fromEntries(skills.map(skill => [skill.name, dirname(skill.file)]))
  }
}

/** Another one when a text, or the order, is another one. */
export function versionOfSkills (skills: readonly Skill[]): string {
  return createHash('sha256').update(skills.map(({ digest }) => digest).join()).digest('base64url')
}

function toolOf (name: string, skills: readonly Skill[]): Pick<Tool, 'name' | 'namespace' | 'jobType' | 'enabled' | 'idempotent' | 'source'> {
  return { name, namespace: skillsNamespace, jobType: jobTypeOf('skill', name), enabled: true, idempotent: true, source: { format: 'skill', file: skills[0]?.file ?? '', index: 0 } }
}

function objectOf (properties: Record<string, unknown>, required: string[]): Tool['parameters'] {
  return { type: 'object', properties, required, additionalProperties: false }
}

function nameOf (skills: readonly Skill[]): Record<string, unknown> {
  return { type: 'string', enum: skills.map(({ name }) => name), description: 'Name of the skill.' }
}

/** Each with its description where they fit, else with the beginning of it. */
function listOf (skills: readonly Skill[], chars: number): string {
  if (!fits(skills, chars)) return 'The skills are described in the list of skills of your instructions.'
  const share = shareOf(skills, chars)
  return `Skills:\n${skills.map(({ name, description }) => `- ${name}: ${cut(description, share - name.length)}`).join('\n')}`
}

function fits (skills: readonly Skill[], chars: number): boolean {
  return shareOf(skills, chars) >= leastShare
}

function shareOf (skills: readonly Skill[], chars: number): number {
  return Math.floor(chars / skills.length) - 4
}

function cut (text: string, chars: number): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length <= chars ? line : `${line.slice(0, Math.max(0, chars - 1)).replace(/[\ud800-\udbff]$/, '')}…`
}

/**
 * The programs that `allowed-tools` of a front matter leaves a skill: `Bash(git:*)` is the program git, `Bash` by itself any.
 * Undefined without the field, and where it leaves any. It bounds what the operator allows, and allows nothing.
 */
function allowedPrograms (written: unknown): readonly string[] | undefined {
  const entries = Array.isArray(written) ? written.filter(entry => typeof entry === 'string') : typeof written === 'string' ? toolsIn(written) : undefined
  if (entries === undefined) return undefined
  const programs = new Set<string>()
  for (const entry of entries) {
    const [, name = '', pattern] = /^\s*([\w*-]+)(?:\((.*)\))?\s*$/s.exec(entry) ?? []
    if (name === '*') return undefined
    if (!['bash', 'shell', 'skill_run'].includes(name.toLowerCase())) continue
    const [program = ''] = (pattern ?? '*').trim().split(/[\s:]/)
    if (program === '*' || program === '') return undefined
    programs.add(program)
  }
  return [...programs]
}

/** Names stand apart by commas or blanks; what is in parentheses belongs to the name before. */
function toolsIn (text: string): string[] {
  // Where no parenthesis is closed any more, none is looked for: from each that is open it would be, to the end.
  const closed = text.lastIndexOf(')') + 1
  return [...text.slice(0, closed).match(/[^\s,(]+(?:\([^)]*\))?/g) ?? [], ...text.slice(closed).match(/[^\s,(]+/g) ?? []]
}
