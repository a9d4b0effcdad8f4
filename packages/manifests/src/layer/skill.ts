import type { Tool, ToolSource } from '../tool/tool.ts'
import type { AuditStatus } from '../tool/audit-status.ts'
import type { RunnableSkill } from '../tool/skill-run.ts'

export interface Skill {
  /** From the front matter, else the name of the directory. */
  name: string
  /** Empty when the front matter has none. */
  description: string
  /** All of the front matter, as JSON has it. */
  frontMatter: Readonly<Record<string, unknown>>
  /** SKILL.md behind its front matter. */
  text: string
  /** Hash of what SKILL.md says: made once, while it is read, since all texts together may be many megabytes. */
  digest: string
  /** Absolute path of its SKILL.md. */
  file: string
  /** Whether it is an Agent Skill with more than its text: models read its files and run its scripts by way of tools. */
  hasFiles: boolean
  /** Empty without a `tools.json`. */
  tools: readonly Tool[]
  /** Present for one that was added from elsewhere. */
  audit?: AuditStatus
}

/** Whether models are told of it: authors keep some skills for people, who have them as prompts of MCP. */
export function isOffered ({ frontMatter }: Skill): boolean {
  return frontMatter['disable-model-invocation'] !== true
}

export interface SkillSettings extends Pick<RunnableSkill, 'permissions' | 'network' | 'secrets' | 'limits' | 'timeoutSec' | 'python'> {
  skill: string
  enabled?: boolean
  /** Programs that it may run beside those of SKILL_PROGRAMS. */
  programs?: readonly string[]
  /** Names of environment variables that pass from the worker to it. */
  envPassthrough?: readonly string[]
  /** Its scripts may write beside themselves; what they write is gone with the call. */
  overlay?: boolean
  /** Its programs may make Unix sockets, as LibreOffice does. */
  unixSockets?: boolean
  source: ToolSource
}

/** Whether a skill has a name as the specification of Agent Skills wants it. */
export function isSkillName (name: unknown): name is string {
  return typeof name === 'string' && /^(?!.*--)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/.test(name)
}
