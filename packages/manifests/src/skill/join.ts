import type { Finding } from '../finding/finding.ts'
import type { Layer, LayerEntry } from '../layer/layer.ts'
import type { Tool } from '../tool/tool.ts'
import type { SkillOptions } from './tools/options.ts'
import { readSkillTool } from './read-skill-tool.ts'
import type { Skill } from '../layer/skill.ts'

/** Layers with the tools of the skills that stay, and these skills in order. */
export interface JoinedSkills {
  layers: readonly Layer[]
  skills: readonly Skill[]
}

/**
 * Decides which skills stay: a later one replaces an earlier one of the same name as a whole, with its tools, even when
 * it has none itself. Their tools become entries of the layers that they came from. When skills are read on
 * demand and there is one, `read_skill` comes first.
 */
export function joinSkills (layers: readonly Layer[], { contextMode }: Pick<SkillOptions, 'contextMode'>): JoinedSkills {
  const all = layers.flatMap(layer => layer.skills ?? [])
  const last = new Map(all.map(skill => [skill.name, skill]))
  const skills = all.filter(skill => last.get(skill.name) === skill)
  const stays = new Set(skills)
  const [first] = skills
  const reader = contextMode === 'readOnDemand' && first !== undefined ? { tool: readSkillTool(skills), before: first } : undefined
  return {
    skills,
    layers: layers.map(layer => {
      const own = layer.skills ?? []
      return {
        entries: [...layer.entries, ...own.filter(skill => stays.has(skill)).flatMap(skill => [
          ...reader?.before === skill ? [toolEntry(reader.tool)] : [],
          ...skill.tools.map(toolEntry)
        ])],
        leftOut: own.filter(skill => !stays.has(skill)).flatMap(skill =>
          skill.tools.map(({ name, source }) => ({ name, source, because: replacement(skill, last.get(skill.name)) }))),
        findings: [...layer.findings, ...own.filter(skill => !stays.has(skill)).map(skill => replaced(skill, last.get(skill.name)))]
      }
    })
  }
}

function toolEntry (tool: Tool): LayerEntry {
  return { kind: 'tool', tool, override: false }
}

function replacement ({ name }: Skill, by: Skill | undefined): string {
  return `skill ${JSON.stringify(name)} is replaced by the one of ${by?.file}`
}

function replaced (skill: Skill, by: Skill | undefined): Finding {
  return {
    severity: 'warning',
    file: skill.file,
    rule: 'SC21',
    message: replacement(skill, by),
    fix: 'Nothing, when this is meant; else rename one of the two.'
  }
}
