import { numberText } from '@toolyard/contract/terms'
import type { MappedSwitch, MappedValue } from '@toolyard/manifests'
import { failure, type Failure } from '../../run/outcome.ts'
import { ownValue } from '../arguments.ts'
import { isTrue, valueText } from '../value-text.ts'
import { pathLikeFault } from './inside-path.ts'

/** A parameter's value before anything ran. */
export type Given =
  | { ok: true, kind: 'text', text: string }
  /** It is left out, and its resolver may find a value. */
  | { ok: true, kind: 'open' }
  | { ok: true, kind: 'skipped' }

/** Words of a value that is split. */
const mostWords = 1_000

/** The words of a value that is split, else the value. */
export function piecesOf ({ split }: MappedValue, text: string): string[] {
  return split ? text.split(/\s+/).filter(piece => piece !== '') : [text]
}

/** The value of a parameter, which is refused where it is none of the format, or could be an option or a path to elsewhere. */
export function givenValue (arg: MappedValue, args: Record<string, unknown>): Given | Failure {
  const value = ownValue(args, arg.param)
  if (value === undefined || value === null) return absentValue(arg)
  if (typeof value === 'object') return failure('INVALID_ARGUMENTS', `parameter ${arg.param} must be a string, number, or boolean`)
  const text = numberText(args, arg.param) ?? valueText(value)
  if (arg.kind !== 'stdin' && arg.kind !== 'tempfile') {
    if (text.includes('\0')) return failure('INVALID_ARGUMENTS', `parameter ${arg.param} must not hold a NUL byte`)
    if (arg.split && piecesOf(arg, text).length > mostWords) return failure('INVALID_ARGUMENTS', `parameter ${arg.param} must not have more than ${mostWords} words`)
    // A negative number is no option.
    const refused = (typeof value === 'number' ? undefined : dashRefusal(arg, text)) ?? pathRefusal(arg, text)
    if (refused !== undefined) return refused
  }
  return { ok: true, kind: 'text', text }
}

function absentValue (arg: MappedValue): Given | Failure {
  const { kind, param, optional, resolver, absentDefault } = arg
  if (absentDefault !== undefined) return { ok: true, kind: 'text', text: valueText(absentDefault) }
  if (optional && resolver !== undefined && kind !== 'stdin' && kind !== 'tempfile') return { ok: true, kind: 'open' }
  return optional || kind === 'flag' || kind === 'workingdir' ? { ok: true, kind: 'skipped' } : failure('INVALID_ARGUMENTS', `missing parameter: ${param}`)
}

/** A program would take such a value, or one of its words, for one of its options. */
export function dashRefusal (arg: MappedValue, text: string): Failure | undefined {
  if (arg.allowDash || arg.kind === 'flag' || !piecesOf(arg, text).some(piece => piece.startsWith('-'))) return undefined
  return failure('NOT_ALLOWED', `parameter ${arg.param} must not ${arg.split ? 'have words that start' : 'start'} with "-"`)
}

function pathRefusal (arg: MappedValue, text: string): Failure | undefined {
  if (arg.path !== undefined) return undefined
  for (const piece of new Set([text, ...piecesOf(arg, text)])) {
    const fault = pathLikeFault(arg.param, piece)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** Whether a switch is on: what the call says, else what the skill's author says. */
export function isOn ({ param, absentDefault }: MappedSwitch, args: Record<string, unknown>): boolean {
  return isTrue(ownValue(args, param) ?? absentDefault)
}
