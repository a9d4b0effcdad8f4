import { limits } from '@toolyard/contract/terms'
import type { SkillOptions } from './tools/options.ts'
import { isOffered, type Skill } from '../layer/skill.ts'

const heading = 'You have access to the following skills:'
/**
 * The skills in a model's system prompt: each with its whole text, or only its description
 * when texts are read on demand. Empty without skills.
 */
export function skillsPrompt (skills: readonly Skill[], contextMode: SkillOptions['contextMode']): string {
  const offered = skills.filter(isOffered)
  if (offered.length === 0) return ''
  const fit = contextMode === 'full' && textsFit(skills)
  const parts = offered.map(skill => fit || (contextMode === 'full' && skill.tools.length > 0) ? fullPart(skill) : `- **${skill.name}**: ${descriptionOf(skill)}`)
  return [heading, ...parts].join(contextMode === 'full' ? '\n\n' : '\n')
}

/** Whether the prompt has the whole texts of all skills where it may. If not, it has those of skills with tools alone. */
export function textsFit (skills: readonly Skill[]): boolean {
  return skills.filter(isOffered).reduce((sum, { text }) => sum + text.length, 0) <= limits.skillChars
}

function fullPart (skill: Skill): string {
  return `- **${skill.name}:** ${descriptionOf(skill)}\n\n${skill.text.trim()}`
}

function descriptionOf ({ description }: Skill): string {
  return description === '' ? '(no description)' : description
}
