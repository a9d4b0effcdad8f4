import type { MappedSwitch, MappedValue, SkillDenial } from '@toolyard/manifests'
import { failure, type Failure } from '../../run/outcome.ts'
import { helperText, type Replacements, type SkillCall } from './helper.ts'
import { piecesOf } from './values.ts'

/** A value, its texts, and where the program will run, as processes see it. */
interface Denied {
  arg: MappedValue | MappedSwitch
  deny: SkillDenial
  texts: readonly string[]
  cwd: string
  replacements: Replacements
}

/**
 * Refuses a value that its pattern forbids: as the call has it, as it was resolved, and each of its words. Where the call
 * has none, or always, the text of a helper is looked at; one that can't be had refuses the call.
 */
export async function denialOf (skill: SkillCall, value: Denied): Promise<Failure | undefined> {
  const { arg, deny } = value
  const { compileDeny } = skill.call.worker
  if (compileDeny === undefined) return failure('NOT_ALLOWED', `parameter ${arg.param} can't be looked at: there is no engine for its denyPattern`)
  const looked = await looksAt(skill, value)
  if (!looked.ok) return looked
  const test = compileDeny(deny.pattern)
  for (const text of looked.texts) {
    const answer = test(text)
    if (answer === 'denied') return failure('NOT_ALLOWED', `protected value on param '${arg.param}': ${JSON.stringify(text.slice(0, 200))} matches deny pattern ${JSON.stringify(deny.pattern)}`)
    if (answer === 'unsure') return failure('NOT_ALLOWED', `parameter ${arg.param} is too long, or has characters, for its denyPattern to be sure of it`)
  }
  return undefined
}

async function looksAt (
  skill: SkillCall, { arg, deny, texts, cwd, replacements }: Denied
): Promise<{ ok: true, texts: string[] } | Failure> {
  const own = arg.kind === 'flagifboolean' ? [] : texts.filter(text => text !== '').flatMap(text => [text, ...piecesOf(arg, text)])
  if (deny.resolver === undefined || (!deny.always && own.length > 0)) return { ok: true, texts: [...new Set(own)] }
  const answer = await helperText(`denyResolveCommand of ${arg.param}`, deny.resolver, {
    skill, replacements: { ...replacements, param: texts[0] ?? '', workingDir: cwd }, more: { cwd }
  })
  if (!answer.ok) return answer
  return answer.text === '' ? failure('NOT_ALLOWED', `denyResolveCommand of ${arg.param} printed nothing`) : { ok: true, texts: [answer.text] }
}
