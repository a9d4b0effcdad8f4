import type { SkillOptions } from './tools/options.ts'
import type { Skill } from '../layer/skill.ts'

const heading = 'You have access to the following skills:'

/**
 * What a model is told of the skills, in its system prompt: each with its whole text, or only its description
 * when texts are read on demand. Empty without skills.
 */
export function skillsPrompt (skills: readonly Skill[], contextMode: SkillOptions['contextMode']): string {
  if (skills.length === 0) return ''
  const parts = skills.map(skill => contextMode === 'full' ? fullPart(skill) : `- **${skill.name}**: ${descriptionOf(skill)}`)
  return [heading, ...parts].join(contextMode === 'full' ? '\n\n' : '\n')
}

function fullPart (skill: Skill): string {
  return `- **${skill.name}:** ${descriptionOf(skill)}\n\n${skill.text.trim()}`
}

function descriptionOf ({ description }: Skill): string {
  return description === '' ? '(no description)' : description
}
