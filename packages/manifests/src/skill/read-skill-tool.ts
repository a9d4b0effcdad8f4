import { jobTypeOf } from '../tool/job-type.ts'
import { skillsNamespace } from './agent/tools.ts'
import type { Tool } from '../tool/tool.ts'
import type { Skill } from '../layer/skill.ts'

const name = 'read_skill'

export function readSkillTool (skills: readonly Skill[]): Tool {
  return {
    name,
    namespace: skillsNamespace,
    description: 'Read a skill. Call when you need to use a skill and its tools.',
    parameters: { type: 'object', properties: { skill_name: { type: 'string' } }, required: ['skill_name'] },
    jobType: jobTypeOf('skill', name),
    enabled: true,
    idempotent: true,
    source: { format: 'skill', file: skills[0]?.file ?? '', index: 0 },
    run: { kind: 'read-skill', action: 'read', skills: Object.fromEntries(skills.map(skill => [skill.name, skill.text])) }
  }
}
