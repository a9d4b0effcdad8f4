import { withoutUndefined } from '@toolyard/contract/terms'
import type { Finding } from '../finding/finding.ts'
import type { Layer, LayerEntry } from '../layer/layer.ts'
import type { Tool } from '../tool/tool.ts'
import { agentSkillTools, skillsNamespace, versionOfSkills } from './agent/tools.ts'
import type { SkillOptions } from './tools/options.ts'
import { textsFit } from './prompt.ts'
import type { Skill, SkillSettings } from '../layer/skill.ts'
import { jobTypeOf } from '../tool/job-type.ts'

const name = 'read_skill'

export interface JoinedSkills {
  layers: readonly Layer[]
  skills: readonly Skill[]
  /** The operator's settings, by the names of skills. */
  settings: ReadonlyMap<string, SkillSettings>
}

/**
 * Decides which skills stay: a later one replaces an earlier one of the same name as a whole, with its tools, even when
 * it has none itself, and an entry of a layer may switch one off. Their tools become entries of the layers that they came
 * from. The tools that read and run skills come first: those that models can't know from their prompt alone need them.
 */
export function joinSkills (layers: readonly Layer[], options: SkillOptions): JoinedSkills {
  const all = layers.flatMap(layer => layer.skills ?? [])
  const { settings, findings } = settingsOf(layers, all)
  const last = byName(all)
  const skills = all.filter(skill => last.get(skill.name) === skill && settings.get(skill.name)?.enabled !== false)
  const stays = new Set(skills)
  const served = byName(skills)
  const [first] = skills
  const readers = first === undefined ? [] : readersOf(skills, settings, options)
  return {
    skills,
    settings,
    layers: layers.map(layer => {
      const own = layer.skills ?? []
      const replacedOnes = own.filter(skill => last.get(skill.name) !== skill)
      return {
        entries: [...layer.entries, ...own.filter(skill => stays.has(skill)).flatMap(skill => [
          ...first === skill ? readers.map(toolEntry) : [],
          ...skill.tools.map(tool => toolEntry({ ...withSettings(tool, settings.get(skill.name)), namespace: skill.name }))
        ])],
        leftOut: replacedOnes.flatMap(skill =>
          skill.tools.map(({ name, source }) => ({ name, source, because: replacement(skill, last.get(skill.name)) }))),
        findings: [
          ...layer.findings,
          ...replacedOnes.map(skill => replaced(skill, last.get(skill.name))),
          ...variants(own.filter(skill => stays.has(skill)), served),
          ...findings.get(layer) ?? []
        ]
      }
    })
  }
}

/** The last one of each name. */
function byName (skills: readonly Skill[]): Map<unknown, Skill> {
  return new Map(skills.map(skill => [skill.name, skill]))
}

/** The operator's settings for a skill with three files, which has none of its own. */
function withSettings (tool: Tool, settings: SkillSettings | undefined): Tool {
  if (tool.run.kind !== 'skill-command' || settings === undefined) return tool
  const { permissions, network, secrets, limits, timeoutSec } = settings
  return { ...tool, ...withoutUndefined({ permissions, network, secrets, limits, timeoutSec }) }
}

/** Skills with files, and those that the prompt doesn't have, are read and run by tools. */
function readersOf (skills: readonly Skill[], settings: ReadonlyMap<string, SkillSettings>, options: SkillOptions): Tool[] {
  const isCut = options.contextMode === 'full' && !textsFit(skills)
  const agents = skills.filter(({ hasFiles, tools }) => hasFiles || (isCut && tools.length === 0))
  if (agents.some(({ hasFiles }) => hasFiles)) return agentSkillTools(options.contextMode === 'full' ? agents : skills, settings, options)
  return options.contextMode === 'readOnDemand' || agents.length > 0 ? [readSkillTool(skills)] : []
}

/** The last entry about a skill holds, as a whole; one about a skill that there isn't is told. */
function settingsOf (
  layers: readonly Layer[], skills: readonly Skill[]
): { settings: Map<string, SkillSettings>, findings: Map<Layer, Finding[]> } {
  const settings = new Map<string, SkillSettings>()
  const findings = new Map<Layer, Finding[]>()
  const known = new Set(skills.map(({ name }) => name))
  for (const layer of layers) {
    for (const each of layer.skillSettings ?? []) {
      settings.set(each.skill, each)
      if (!known.has(each.skill)) findings.set(layer, [...findings.get(layer) ?? [], unknownSkill(each)])
    }
  }
  return { settings, findings }
}

function unknownSkill ({ skill, source: { file, index } }: SkillSettings): Finding {
  return {
    severity: 'warning',
    file,
    rule: 'skill/settings',
    index,
    message: `tool[${index}]: no manifest has a skill ${JSON.stringify(skill)}`,
    fix: 'Correct the name, or name the directory of the skill in TOOL_MANIFESTS.'
  }
}

/** A variant has tools of the skill that it is one of, under the same names: the later one's are served. */
function variants (own: readonly Skill[], served: ReadonlyMap<unknown, Skill>): Finding[] {
  return own.flatMap(({ name, file, frontMatter, tools }): Finding[] => {
    const variantOf = frontMatter['variant_of']
    const other = variantOf === name ? undefined : served.get(variantOf)
    const theirs = new Set(other?.tools.map(tool => tool.name))
    const same = tools.map(tool => tool.name).filter(name => theirs.has(name))
    return same.length === 0
      ? []
      : [{ severity: 'warning', file, rule: 'SN36', path: ['variant_of'], message: `skill ${JSON.stringify(name)} is a variant of ${JSON.stringify(other?.name)}, which is served as well; both have ${same.slice(0, 5).join(', ')}`, fix: 'Choose one of the two with SKILLS_ENABLED or SKILLS_DISABLED.' }]
  })
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

function readSkillTool (skills: readonly Skill[]): Tool {
  return {
    name,
    namespace: skillsNamespace,
    description: 'Read a skill. Call when you need to use a skill and its tools.',
    parameters: { type: 'object', properties: { skill_name: { type: 'string' } }, required: ['skill_name'] },
    jobType: jobTypeOf('skill', name),
    enabled: true,
    idempotent: true,
    source: { format: 'skill', file: skills[0]?.file ?? '', index: 0 },
    run: { kind: 'read-skill', action: 'read', skills: Object.fromEntries(skills.map(skill => [skill.name, skill.text])), version: versionOfSkills(skills) }
  }
}
