import type { SkillHint } from '@toolyard/manifests'
import { isRecord, firstChars } from '@toolyard/contract/terms'
import { valueText } from '../value-text.ts'

/** How the program ended that printed an output, and the arguments of its call. */
interface HintFacts {
  code: number
  args: Readonly<Record<string, unknown>>
}

/** Characters of a value that a hint shows, and values that it has. */
const most = { chars: 1_000, values: 100 }

/** The lines that an output gets: one for each hint all of whose conditions hold. */
export function hintLines (hints: readonly SkillHint[], output: string, facts: HintFacts): string[] {
  return hints.filter(hint => isMet(hint, output, facts)).map(({ hint }) => `hint: ${filledIn(hint, facts.args)}`)
}

function isMet ({ match, exitCode, notEmpty, whenArg }: SkillHint, output: string, { code, args }: HintFacts): boolean {
  if (match === undefined && exitCode === undefined && !notEmpty && whenArg === undefined) return false
  if (exitCode !== undefined && (exitCode === 'nonzero' ? code === 0 : code !== exitCode)) return false
  if (notEmpty && output === '') return false
  if (!Object.entries(whenArg ?? {}).every(([name, expected]) => Object.hasOwn(args, name) && isSame(expected, args[name]))) return false
  return match === undefined || output.includes(match)
}

/** A text stands for a number or a switch that is written like it. */
function isSame (expected: unknown, actual: unknown): boolean {
  if (isRecord(actual) || Array.isArray(actual) || actual === null || actual === undefined) return false
  return expected === actual || (typeof expected === 'string' && expected === valueText(actual))
}

/** `{name}` is the value of a parameter, `{{` and `}}` are braces. */
function filledIn (template: string, args: Readonly<Record<string, unknown>>): string {
  const texts = new Map<string, string>()
  let values = 0
  return template.replace(/\{\{|\}\}|\{([^{}]+)\}/g, (whole, name: string | undefined) => {
    if (name === undefined) return whole[0] ?? ''
    values += 1
    if (values > most.values) return whole
    const known = texts.get(name)
    if (known !== undefined) return known
    const value = Object.hasOwn(args, name) ? args[name] : undefined
    const text = value === undefined || value === null ? '' : isRecord(value) || Array.isArray(value) ? JSON.stringify(value) : valueText(value)
    const shown = firstChars(text, most.chars)
    texts.set(name, shown)
    return shown
  })
}
