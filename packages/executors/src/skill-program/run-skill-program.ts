import { cp, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { RunnableSkill, SkillProgramRun } from '@toolyard/manifests'
import { findOnPath, runProcess } from '@toolyard/sandbox'
import { auditEntry } from '../audit/entry.ts'
import { largeProcessOutput } from '../result/large-output.ts'
import { textOutput } from '../result/output.ts'
import { processOutcome } from '../result/process-outcome.ts'
import { toolEnvironment } from '../run/environment.ts'
import { failure, ownerOfCall, type Outcome } from '../run/outcome.ts'
import type { ToolCall } from '../run/tool-call.ts'
import { programOf, shellOf, type SkillView } from './command.ts'
import { skillPlace } from './place.ts'

/** They wait for a Unix socket without end where they can't have one. */
const office = new Set(['soffice', 'libreoffice', 'localc', 'lowriter', 'loimpress'])
const officeRefusal = 'LibreOffice waits for a Unix socket, which the box of this skill does not have: {"skill": NAME, "unixSockets": true} in a manifest of the operator gives it one'

/** Where the worker is root, tar would give files to owners that no box knows, and fail. */
const noOwners = { TAR_OPTIONS: '--no-same-owner' }

/**
 * Runs a program of a skill. In a box the directory of the skill is read-only at a place of its own, in the open where it
 * is; its processes find it as SKILL_DIR. The output is stdout as text.
 */
export async function runSkillProgram (run: SkillProgramRun, call: ToolCall): Promise<Outcome> {
  const { tool, args, context, worker } = call
  const skill = skillOf(run, args)
  if (skill === undefined) return failure('INVALID_ARGUMENTS', `unknown skill: ${String(args['skill'])}`)
  const { argv, command, stdin } = args
  if ((argv === undefined) === (command === undefined)) return failure('INVALID_ARGUMENTS', run.shell ? 'give argv or command, one of the two' : 'give argv')
  if (command !== undefined && !run.shell) return failure('NOT_ALLOWED', 'shell command lines are not taken: give argv. The operator switches them on with SKILLS_SHELL=1')
  const directory = await realpath(skill.directory).catch(() => undefined)
  if (directory === undefined) return failure('TOOL_UNAVAILABLE', 'the directory of the skill is gone')
  const copy = skill.overlay && call.box === undefined ? await mkdtemp(join(tmpdir(), 'toolyard-skill-')) : undefined
  try {
    if (copy !== undefined) await cp(directory, copy, { recursive: true })
    const name = String(args['skill'])
    const place = call.box === undefined ? copy ?? directory : skillPlace(name)
    const { variables, passedKeys } = toolEnvironment(skill.envPassthrough, worker.env, context.trace?.variables)
    const path = [...skill.python === undefined ? [] : [join(skill.python, 'bin')], variables['PATH'] ?? ''].join(':')
    const own = { ...skill, directory: copy ?? directory }
    const view: SkillView = { name, skill: own, place, path, filesDir: call.filesDir }
    const found = typeof command === 'string' ? shellOf(command, view) : await programOf(textsOf(argv), view)
    if (!found.ok) return found
    if (call.box !== undefined && !skill.unixSockets && office.has(found.name)) return failure('TOOL_UNAVAILABLE', officeRefusal)
    const { ok: _, ...program } = found
    const plan = {
      ...program,
      env: { ...noOwners, ...modulePaths(place, path), ...variables, ...context.variables, PATH: path, ...placeVariables(place) },
      cwd: call.workspaceDir,
      handed: context.handed ?? [],
      readable: skill.python === undefined ? [] : [skill.python],
      mounted: call.box === undefined ? [] : [{ source: directory, place, overlay: skill.overlay }]
    }
    const end = await runProcess(plan, {
      stdin: typeof stdin === 'string' ? stdin : '',
      timeoutMs: Math.min(context.timeoutMs, skill.timeoutSec === undefined ? Infinity : skill.timeoutSec * 1_000),
      signal: context.signal,
      maxOutputBytes: call.maxOutputBytes,
      onLine: context.log,
      onProgress: context.progress
    }, call)
    call.audit.record(auditEntry({ tool: tool.name, job: context.jobId, envKeys: passedKeys }, plan, end))
    const reading = { threads: worker.threads, signal: context.signal, owner: ownerOfCall(context) }
    return await largeProcessOutput(end, 'text', reading) ?? processOutcome(end, textOutput, context.jobId)
  } finally {
    if (copy !== undefined) await rm(copy, { recursive: true, force: true })
  }
}

/** Published skills name the second one. */
function placeVariables (place: string): NodeJS.ProcessEnv {
  return { SKILL_DIR: place, CLAUDE_SKILL_DIR: place }
}

function skillOf ({ skills }: SkillProgramRun, { skill }: Record<string, unknown>): RunnableSkill | undefined {
  return typeof skill === 'string' && Object.hasOwn(skills, skill) ? skills[skill] : undefined
}

function textsOf (argv: unknown): string[] {
  return Array.isArray(argv) ? argv.map(String) : []
}

/**
 * Where programs find modules: instructions of skills let scripts of the caller import modules of the skill, and packages of
 * Node that `npm install -g` installed.
 */
function modulePaths (place: string, path: string): Record<string, string> {
  const node = findOnPath('node', path)
  return { PYTHONPATH: place, ...node !== undefined && { NODE_PATH: join(dirname(dirname(node)), 'lib/node_modules') } }
}
