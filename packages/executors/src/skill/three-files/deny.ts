import type { DenyTest, MappedSwitch, MappedValue, SkillDenial } from '@toolyard/manifests'
import { failure, type Failure } from '../../run/outcome.ts'
import { helperText, type HelperHost, type Replacements } from './helper.ts'
import { piecesOf } from './values.ts'

/** Compiles a pattern that values must not match; throws for one that can't be held to. */
export type CompileDeny = (pattern: string) => DenyTest

export interface DenyHost {
  helpers: HelperHost
  /** Absent: no pattern can be held to. */
  compileDeny: CompileDeny | undefined
  /** Where the program will run, as processes see it. */
  cwd: string
  replacements: Replacements
}

/**
 * Refuses a value that its pattern forbids: as the call has it, as it was resolved, and each of its words. Where the call
 * has none, or always, the text of a helper is looked at; one that can't be had refuses the call.
 */
export async function denialOf (
  { arg, deny, texts }: { arg: MappedValue | MappedSwitch, deny: SkillDenial, texts: readonly string[] }, host: DenyHost
): Promise<Failure | undefined> {
  if (host.compileDeny === undefined) return failure('NOT_ALLOWED', `parameter ${arg.param} can't be looked at: there is no engine for its denyPattern`)
  const looked = await looksAt(arg, { deny, texts }, host)
  if (!looked.ok) return looked
  const test = host.compileDeny(deny.pattern)
  for (const text of looked.texts) {
    const answer = test(text)
    if (answer === 'denied') return failure('NOT_ALLOWED', `protected value on param '${arg.param}': ${JSON.stringify(text.slice(0, 200))} matches deny pattern ${JSON.stringify(deny.pattern)}`)
    if (answer === 'unsure') return failure('NOT_ALLOWED', `parameter ${arg.param} is too long, or has characters, for its denyPattern to be sure of it`)
  }
  return undefined
}

async function looksAt (
  arg: MappedValue | MappedSwitch, { deny, texts }: { deny: SkillDenial, texts: readonly string[] }, host: DenyHost
): Promise<{ ok: true, texts: string[] } | Failure> {
  const own = arg.kind === 'flagifboolean' ? [] : texts.filter(text => text !== '').flatMap(text => [text, ...piecesOf(arg, text)])
  if (deny.resolver === undefined || (!deny.always && own.length > 0)) return { ok: true, texts: [...new Set(own)] }
  const answer = await helperText(`denyResolveCommand of ${arg.param}`, deny.resolver, {
    host: host.helpers, replacements: { ...host.replacements, param: texts[0] ?? '', workingDir: host.cwd }, more: { cwd: host.cwd }
  })
  if (!answer.ok) return answer
  return answer.text === '' ? failure('NOT_ALLOWED', `denyResolveCommand of ${arg.param} printed nothing`) : { ok: true, texts: [answer.text] }
}
