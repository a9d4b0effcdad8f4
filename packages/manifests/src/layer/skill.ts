import type { Tool, ToolLimits, ToolSource } from '../tool/tool.ts'
import type { Permission } from '@toolyard/contract'
import type { AuditStatus } from '../tool/audit-status.ts'
import type { SecretUses } from '../tool/secret-use.ts'

export interface Skill {
  /** From the front matter, else the name of the directory. */
  name: string
  /** Empty when the front matter has none. */
  description: string
  /** All of the front matter, as JSON has it. */
  frontMatter: Readonly<Record<string, unknown>>
  /** SKILL.md behind its front matter. */
  text: string
  /** Absolute path of its SKILL.md. */
  file: string
  /** Whether it is an Agent Skill with more than its text: models read its files and run its scripts by way of tools. */
  hasFiles: boolean
  /** Empty without a `tools.json`. */
  tools: readonly Tool[]
  /** Present for one that was added from elsewhere. */
  audit?: AuditStatus
}

export interface SkillSettings {
  skill: string
  enabled?: boolean
  permissions?: readonly Permission[]
  network?: readonly string[]
  secrets?: SecretUses
  limits?: ToolLimits
  timeoutSec?: number
  /** Absolute path of a virtual environment, whose programs come first. */
  python?: string
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
