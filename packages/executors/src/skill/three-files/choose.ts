import { isRecord } from '@toolyard/contract/terms'
import type { SkillCommandRun, SkillExecution, Tool } from '@toolyard/manifests'
import type { Permission } from '@toolyard/contract'
import { failure, type Failure } from '../../run/outcome.ts'
import { ownValue } from '../arguments.ts'

/** The execution that a call's arguments choose: the one whose parameters are there, else the one that asks for none. */
export function executionOf (run: SkillCommandRun, args: Record<string, unknown>): { ok: true, execution: SkillExecution } | Failure {
  const has = (name: string): boolean => ownValue(args, name) != null
  const conditional = run.executions.flatMap(({ when }) => when === undefined ? [] : [when])
  const [first, second] = run.executions.filter(({ when }) => when !== undefined && when.present.every(has) && !when.absent.some(has))
  if (second !== undefined) return failure('INVALID_ARGUMENTS', 'these arguments choose more than one way of running the tool')
  const execution = first ?? run.executions.find(({ when }) => when === undefined)
  if (execution !== undefined) return { ok: true, execution }
  const partial = conditional.filter(({ present }) => present.some(has)).map(({ present }) => (
    `parameter(s) ${quoted(present.filter(name => !has(name)))} must be provided together with ${quoted(present.filter(has))}`
  ))
  return failure('INVALID_ARGUMENTS', `these arguments choose no way of running the tool${partial.length === 0 ? '' : `: ${partial.join('; ')}`}`)
}

function quoted (names: readonly string[]): string {
  return names.map(name => `'${name}'`).join(', ')
}

/**
 * The tool as one call of it runs: where the execution reads paths and writes none, the sandbox shows the workspace
 * read-only, whatever the tool may do.
 */
export function asChosen (tool: Tool, args: unknown, held: readonly Permission[] | undefined): Tool {
  if (tool.run.kind !== 'skill-command' || held?.includes('write_files') !== true || !isRecord(args)) return tool
  const chosen = executionOf(tool.run, args)
  if (!chosen.ok) return tool
  const paths = pathsOf(chosen.execution)
  if (!paths.includes('read') || paths.some(path => path !== 'read')) return tool
  return { ...tool, permissions: [...new Set<Permission>([...held.filter(permission => permission !== 'write_files'), 'read_repo'])] }
}

/** Refuses arguments whose purpose an execution may not have; undefined where it may. */
export function accessRefusal (execution: SkillExecution, held: readonly Permission[] | undefined): Failure | undefined {
  if (held === undefined) return undefined
  const paths = pathsOf(execution)
  const allow = (permission: string): string => `{"skill": NAME, "permissions": ["${permission}"]} in a manifest of the operator lets it`
  if (paths.includes('write') && !held.includes('write_files')) return failure('NOT_ALLOWED', `an argument is written to (writePath), and the skill may not write: ${allow('write_files')}`)
  const mayRead = held.includes('read_repo') || held.includes('write_files')
  return mayRead || paths.every(path => path === 'any') ? undefined : failure('NOT_ALLOWED', `an argument is a path, and the skill may not read the workspace: ${allow('read_repo')}`)
}

/** A program may write where it runs. */
export function pathsOf ({ args }: SkillExecution): Array<'read' | 'write' | 'any' | 'directory'> {
  return args.flatMap(arg => {
    if (arg.kind === 'literal' || arg.kind === 'flagifboolean') return []
    return arg.kind === 'workingdir' && arg.path !== 'write' ? ['directory' as const] : arg.path ?? []
  })
}
