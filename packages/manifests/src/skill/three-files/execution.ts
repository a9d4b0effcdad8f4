import type { SkillExecution } from '../../tool/skill-command.ts'
import { checkPair } from '../tools/execution-check.ts'
import { helperOf, readArgument, type ArgumentPlace, type Unheld } from './argument.ts'
import type { Execution } from './definitions.ts'

/** Why an execution can't be held to, and remarks. */
interface ExecutionReading {
  execution: SkillExecution
  faults: Unheld[]
  remarks: Unheld[]
}

/** They would read the arguments as a command line. */
const shells = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'fish'])

/** `programs`: those that the skill says it needs. */
export function readExecution (written: Execution, place: ArgumentPlace & { programs: readonly string[] }): ExecutionReading {
  const { binary, subcommand, paramCondition, sideRead, maxOutputLines, truncationHint, postProcess } = written
  const read = (written.args ?? []).map(argument => readArgument(argument, place))
  const args = read.map(({ arg }) => arg)
  const faults = [
    ...pairFaults([subcommand, ...args.flatMap(arg => arg.kind === 'flagifboolean' && arg.subcommandOverride !== undefined ? [arg.subcommandOverride] : [])], binary, place),
    ...wrapperFaults(written, place),
    ...read.flatMap(({ faults }, at) => faults.map(fault => ({ ...fault, message: `args[${at}]: ${fault.message}` }))),
    ...onceFaults(args.map(({ kind }) => kind)),
    ...sideRead != null && !args.some(arg => arg.kind !== 'literal' && arg.kind !== 'flagifboolean' && arg.param === sideRead.pathParam && (arg.path === 'read' || arg.path === 'write'))
      ? [{ rule: 'SN32', message: `sideRead: no argument ${JSON.stringify(sideRead.pathParam)} is a path that is looked at`, fix: 'Give that argument readPath.' }]
      : []
  ]
  return {
    execution: {
      binary,
      subcommand,
      wrapper: written.binaryWrapper ?? [],
      ...paramCondition != null && { when: { present: paramCondition.present ?? [], absent: paramCondition.absent ?? [] } },
      args,
      successExitCodes: written.successExitCodes ?? [],
      ...postProcess != null && { postProcess: { ...helperOf(postProcess), emptyIsResult: postProcess.emptyIsResult === true } },
      hints: (written.hintConditions ?? []).map(({ match, exitCode, notEmpty, whenArg, hint }) => ({
        hint,
        notEmpty: notEmpty === true,
        ...match != null && { match },
        ...exitCode != null && { exitCode },
        ...whenArg != null && { whenArg }
      })),
      ...sideRead != null && { sideRead: sideReadOf(sideRead) },
      ...maxOutputLines != null && { maxOutputLines },
      ...truncationHint != null && { truncationHint }
    },
    faults,
    remarks: remarksOf(written, place)
  }
}

function sideReadOf ({ pathParam, filename, label, oncePerSession }: NonNullable<Execution['sideRead']>): NonNullable<SkillExecution['sideRead']> {
  return { param: pathParam, filename, label: label ?? filename, oncePerSession: oncePerSession === true }
}

function pairFaults (subcommands: readonly string[], binary: string, { allowlist }: ArgumentPlace): Unheld[] {
  return subcommands.flatMap(subcommand => {
    const fault = checkPair(allowlist, binary, subcommand, { binary: 'SN6', subcommand: 'SN6' })
    return fault === undefined ? [] : [{ rule: 'SN6', message: fault.message, fix: fault.place.fix ?? '' }]
  })
}

function wrapperFaults ({ binaryWrapper }: Execution, { allowlist, programs }: ArgumentPlace & { programs: readonly string[] }): Unheld[] {
  const [program] = binaryWrapper ?? []
  if (program === undefined) return []
  const name = program.slice(program.lastIndexOf('/') + 1)
  if (shells.has(name)) return [{ rule: 'SN33', message: `binaryWrapper: ${name} would read the arguments as a command line`, fix: 'Wrap the program in one that takes its arguments as they are.' }]
  if (allowlist.has(program) || programs.includes(program)) return []
  return [{ rule: 'SN33', message: `binaryWrapper: ${JSON.stringify(program)} is neither in allowlist.json nor in metadata.requires.bins`, fix: 'Name it in metadata.requires.bins: that is where people read what a skill runs.' }]
}

function onceFaults (kinds: readonly string[]): Unheld[] {
  return ['stdin', 'workingdir'].filter(kind => kinds.filter(each => each === kind).length > 1)
    .map(kind => ({ rule: kind === 'stdin' ? 'SN11' : 'SN12', message: `more than one argument has the kind ${kind}`, fix: 'Keep one of them.' }))
}

function remarksOf ({ args, hintConditions, postProcess, successExitCodes }: Execution, { allowScripts }: ArgumentPlace): Unheld[] {
  return [
    ...(args ?? []).flatMap(({ unsafePath, normalizeNewlines, param }, at): Unheld[] => [
      ...unsafePath === true ? [{ rule: 'SN23', message: `args[${at}]: unsafePath: ${JSON.stringify(param)} may name any path that the sandbox shows`, fix: 'Write readPath or writePath where the workspace will do.' }] : [],
      ...normalizeNewlines === true ? [{ rule: 'SN40', message: `args[${at}]: normalizeNewlines has no effect in this form`, fix: 'Take it out.' }] : []
    ]),
    ...(hintConditions ?? []).flatMap(({ match, exitCode, notEmpty, whenArg }, at): Unheld[] => [
      ...match == null && exitCode == null && notEmpty !== true && whenArg == null ? [{ rule: 'SN30', message: `hintConditions[${at}] has no condition, and is never shown`, fix: 'Write match, exitCode, notEmpty or whenArg.' }] : [],
      ...exitCode != null && exitCode !== 0 && (successExitCodes ?? []).every(code => code === 0) ? [{ rule: 'SN30', message: `hintConditions[${at}] is never shown: no exit code but 0 is a success`, fix: 'Name the code in successExitCodes.' }] : []
    ]),
    ...postProcess?.script != null && !allowScripts ? [{ rule: 'SN38', message: `postProcess runs the script ${JSON.stringify(postProcess.script)}, and scripts of skills do not run here: outputs stay as they are`, fix: 'Switch them on with SKILLS_ALLOW_SCRIPTS=1.' }] : []
  ]
}
