import { setImmediate as turn } from 'node:timers/promises'
import { numberText, skillArgumentFault } from '@toolyard/contract/terms'
import type { SkillArg, SkillFlagArg, SkillPositionalArg, SkillResolver } from '@toolyard/manifests'
import { failure, type Failure } from '../run/outcome.ts'
import { ownValue } from './arguments.ts'
import { isTrue, normalizeNewlines, valueText } from './value-text.ts'

type Argv = { ok: true, elements: string[] } | Failure

/** Returns the text that replaces a value, or the value itself; a failure only when the whole call is to end. */
export type Resolve = (resolver: SkillResolver, param: string, text: string) => Promise<{ ok: true, text: string } | Failure>

/** Before resolvers ran: elements as they are, or a value that is still to be placed. */
type Part = { ok: true, kind: 'elements', elements: string[] } | { ok: true, kind: 'value', arg: SkillFlagArg | SkillPositionalArg, text: string }

/** Characters of a value that take some milliseconds to read. */
const textAtOnce = 65_536

/**
 * Makes argv from a call's arguments, in the order of the mapping: newlines are normalized, then values are
 * resolved. Parameters without a mapping are left out. Every value is checked before a resolver runs.
 */
export async function buildArgv (mapping: readonly SkillArg[], args: Record<string, unknown>, resolve: Resolve): Promise<Argv> {
  const parts: Part[] = []
  for (const arg of mapping) {
    const part = readPart(arg, args)
    if (!part.ok) return part
    parts.push(part)
    // One parameter may stand in a mapping many times.
    if (part.kind === 'value' && part.text.length > textAtOnce) await turn()
  }
  const elements: string[] = []
  for (const part of parts) {
    const placed = part.kind === 'elements' ? part : await placeValue(part.arg, part.text, resolve)
    if (!placed.ok) return placed
    elements.push(...placed.elements)
  }
  return { ok: true, elements }
}

function readPart (arg: SkillArg, args: Record<string, unknown>): Part | Failure {
  const value = ownValue(args, arg.param)
  if (arg.kind === 'flagifboolean') {
    const flag = isTrue(value) ? arg.flagIfTrue : arg.flagIfFalse
    return { ok: true, kind: 'elements', elements: flag === undefined ? [] : [flag] }
  }
  if (arg.kind === 'flag' && (value === undefined || value === null)) return { ok: true, kind: 'elements', elements: [] }
  const fault = skillArgumentFault(arg, value)
  if (fault !== undefined) return failure('INVALID_ARGUMENTS', fault)
  const raw = numberText(args, arg.param) ?? valueText(value)
  if (raw.includes('\0')) return failure('INVALID_ARGUMENTS', `parameter ${arg.param} must not hold a NUL byte`)
  const text = arg.normalizeNewlines ? normalizeNewlines(raw) : raw
  // A negative number is no option.
  return (typeof value === 'number' ? undefined : dashRefusal(arg, text)) ?? { ok: true, kind: 'value', arg, text }
}

async function placeValue (arg: SkillFlagArg | SkillPositionalArg, text: string, resolve: Resolve): Promise<Argv> {
  const resolved = arg.resolver === undefined ? { ok: true as const, text } : await resolve(arg.resolver, arg.param, text)
  if (!resolved.ok) return resolved
  const refused = resolved.text === text ? undefined : dashRefusal(arg, resolved.text)
  if (refused !== undefined) return refused
  return { ok: true, elements: arg.kind === 'positional' ? [resolved.text] : [flagElement(arg.flag), resolved.text] }
}

/** A program would take such a value for one of its options. */
function dashRefusal ({ param, allowDash }: SkillFlagArg | SkillPositionalArg, text: string): Failure | undefined {
  return allowDash || !text.startsWith('-') ? undefined : failure('NOT_ALLOWED', `parameter ${param} must not start with "-"`)
}

function flagElement (flag: string): string {
  return flag.startsWith('-') ? flag : `--${flag}`
}
