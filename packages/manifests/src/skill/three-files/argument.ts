import type { DefaultValue, MappedArg, MappedValue, SkillDenial, SkillHelper } from '../../tool/skill-command.ts'
import { denyTest } from '../../schema/pattern/deny-pattern.ts'
import { PatternRefused } from '../../schema/pattern/pattern.ts'
import { checkPair, type Allowlist } from '../tools/execution-check.ts'
import type { Argument, Helper } from './definitions.ts'

export interface ArgumentPlace {
  allowlist: Allowlist
  allowScripts: boolean
}

/** Why something can't be held to: its tool isn't served. */
export interface Unheld {
  rule: string
  message: string
  fix: string
}

/** Fields that protect, or that change what runs: where a kind doesn't know them, they would do nothing. */
const kindsOf: ReadonlyArray<{ field: keyof Argument, rule: string, kinds: readonly string[] }> = [
  { field: 'split', rule: 'SN16', kinds: ['positional'] },
  { field: 'disambiguateAfterSkippedPositionals', rule: 'SN17', kinds: ['positional'] },
  { field: 'allowDash', rule: 'SN16', kinds: ['positional', 'flag'] },
  { field: 'readPath', rule: 'SN21', kinds: ['positional', 'flag', 'workingdir'] },
  { field: 'writePath', rule: 'SN22', kinds: ['positional', 'flag', 'workingdir'] },
  { field: 'resolveCommand', rule: 'SN20', kinds: ['positional', 'flag', 'stdin', 'workingdir', 'tempfile'] },
  { field: 'subcommandOverride', rule: 'SN19', kinds: ['flagifboolean'] },
  { field: 'absentDefault', rule: 'SN18', kinds: ['positional', 'flag', 'flagifboolean'] }
]

/** One element of `args`, and why it can't be held to; nothing of it is used then. */
export function readArgument (argument: Argument, place: ArgumentPlace): { arg: MappedArg, faults: Unheld[] } {
  const { kind = 'positional', param, value } = argument
  const faults = [...misplaced(argument, kind), ...denyFaults(argument, kind, place), ...argument.resolveCommand == null ? [] : helperFaults('resolveCommand', argument.resolveCommand, place)]
  if (kind === 'literal') {
    if (value == null) faults.push({ rule: 'SN14', message: 'a literal has no value', fix: 'Write value.' })
    return { arg: { kind, value: value ?? '' }, faults }
  }
  if (param == null || param === '') faults.push({ rule: 'SN4', message: `an argument of the kind ${kind} names no param`, fix: 'Write param.' })
  return { arg: kind === 'flagifboolean' ? switchOf(argument, param ?? '') : valueOf(argument, kind, param ?? ''), faults }
}

function switchOf (argument: Argument, param: string): MappedArg {
  const { flagIfTrue, flagIfFalse, subcommandOverride } = argument
  return {
    kind: 'flagifboolean',
    param,
    ...flagIfTrue != null && { flagIfTrue },
    ...flagIfFalse != null && { flagIfFalse },
    ...subcommandOverride != null && { subcommandOverride },
    ...common(argument)
  }
}

function valueOf (argument: Argument, kind: MappedValue['kind'], param: string): MappedValue {
  const { readPath, writePath, unsafePath, resolveCommand } = argument
  const path = writePath === true ? 'write' : readPath === true || kind === 'workingdir' ? 'read' : unsafePath === true ? 'any' : undefined
  return {
    kind,
    param,
    flag: flagText(argument.flag ?? param),
    optional: argument.optional === true,
    split: argument.split === true,
    separated: argument.disambiguateAfterSkippedPositionals === true,
    // A flag takes the element behind it as its value, whatever that starts with.
    allowDash: argument.allowDash ?? kind === 'flag',
    ...resolveCommand != null && { resolver: helperOf(resolveCommand) },
    ...path !== undefined && { path },
    ...common(argument)
  }
}

function common (argument: Argument): { absentDefault?: DefaultValue, deny?: SkillDenial } {
  const { absentDefault, denyPattern, denyResolveCommand, denyAlwaysResolve } = argument
  return {
    ...absentDefault != null && { absentDefault },
    ...denyPattern != null && {
      deny: {
        pattern: denyPattern,
        always: denyAlwaysResolve === true,
        ...denyResolveCommand != null && { resolver: helperOf(denyResolveCommand) }
      }
    }
  }
}

/** `n` is `-n` and `number` is `--number`, whatever dashes stand in front of them. */
function flagText (written: string): string {
  const bare = written.replace(/^-+/, '')
  return `${[...bare].length === 1 ? '-' : '--'}${bare}`
}

/** The fields that say something: for this format, null and absent are the same. */
export function helperOf ({ script, binary, subcommand, args }: Helper): SkillHelper {
  return { ...script != null && { script }, ...binary != null && { binary }, ...subcommand != null && { subcommand }, args: args ?? [] }
}

/** Why a script or a program that a value depends on can't run. */
function helperFaults (field: string, { script, binary, subcommand }: Helper, { allowlist, allowScripts }: ArgumentPlace): Unheld[] {
  if (script != null) {
    if (script.includes('..') || /[/\\]/.test(script)) return [{ rule: 'SN38', message: `${field}: script ${JSON.stringify(script)} must not contain .., / or \\`, fix: 'Name a file in scripts/.' }]
    return allowScripts ? [] : [{ rule: 'SN38', message: `${field} runs the script ${JSON.stringify(script)}, and scripts of skills do not run here`, fix: 'Switch them on with SKILLS_ALLOW_SCRIPTS=1.' }]
  }
  if (binary == null || subcommand == null) return [{ rule: 'SN20', message: `${field} needs a script, or a binary and a subcommand`, fix: 'Name what gives the text.' }]
  const fault = checkPair(allowlist, binary, subcommand, { binary: 'SN6', subcommand: 'SN6' })
  return fault === undefined ? [] : [{ rule: 'SN6', message: `${field}: ${fault.message}`, fix: fault.place.fix ?? '' }]
}

function misplaced (argument: Argument, kind: string): Unheld[] {
  return kindsOf.filter(({ field, kinds }) => argument[field] != null && argument[field] !== false && !kinds.includes(kind))
    .map(({ field, rule, kinds }) => ({ rule, message: `${field} can't be held to by an argument of the kind ${kind}`, fix: `Take it away, or make the kind ${kinds.join(' or ')}.` }))
}

function denyFaults (argument: Argument, kind: string, place: ArgumentPlace): Unheld[] {
  const { denyPattern, denyResolveCommand, denyAlwaysResolve } = argument
  if (denyPattern == null) {
    return denyResolveCommand == null && denyAlwaysResolve !== true ? [] : [{ rule: 'SN26', message: 'denyResolveCommand and denyAlwaysResolve protect nothing without denyPattern', fix: 'Write denyPattern.' }]
  }
  const faults = denyResolveCommand == null ? [] : helperFaults('denyResolveCommand', denyResolveCommand, place)
  if (kind === 'literal') faults.push({ rule: 'SN25', message: 'denyPattern can\'t be held to by a literal', fix: 'Take it away.' })
  if (denyResolveCommand == null && (denyAlwaysResolve === true || kind === 'flagifboolean')) {
    faults.push({ rule: 'SN26', message: 'denyPattern has nothing to look at without denyResolveCommand', fix: 'Write denyResolveCommand.' })
  }
  try {
    denyTest(denyPattern)
  } catch (error) {
    if (!(error instanceof PatternRefused)) throw error
    faults.push({ rule: 'SN25', message: `denyPattern ${error.message}`, fix: 'Write it in the syntax of RE2 alone.' })
  }
  return faults
}
