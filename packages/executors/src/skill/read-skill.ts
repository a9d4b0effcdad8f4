import { isRecord } from '@toolyard/contract/terms'
import type { ReadSkillRun } from '@toolyard/manifests'
import { failure, type Outcome } from '../run/outcome.ts'
import { noObject, ownValue } from './arguments.ts'

/** Hands out the text of the skill that `skill_name` names. */
export function readSkill (run: ReadSkillRun, args: unknown): Outcome {
  if (!isRecord(args)) return noObject
  const name = ownValue(args, 'skill_name')
  if (typeof name !== 'string') return failure('INVALID_ARGUMENTS', 'missing skill_name')
  const text = Object.hasOwn(run.skills, name) ? run.skills[name] : undefined
  return text === undefined ? failure('INVALID_ARGUMENTS', `unknown skill: ${name}`) : { ok: true, output: text }
}
