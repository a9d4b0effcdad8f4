import type { Permission } from '@toolyard/contract'
import type { AuditStatus } from './audit-status.ts'
import type { SecretUses } from './secret-use.ts'
import type { ToolLimits } from './tool-limits.ts'

/** A subcommand of an allowlisted program; the call's arguments become its argv. */
export interface SkillRun {
  kind: 'skill'
  /** Absolute path of the skill's directory. */
  directory: string
  binary: string
  /** The digest of the program, in lower case hex; anything else isn't run. */
  sha256?: string
  /** As the manifest wrote it: matched as a whole, then split on white space. */
  subcommand: string
  /** In the order of argv. */
  args: SkillArg[]
  /** Subcommands by binary; only these pairs may run. */
  allowlist: Record<string, string[]>
  /** Resolvers may run files of the skill's `scripts/`. */
  allowScripts: boolean
}

/** How one parameter becomes elements of argv, with the manifest's defaults filled in. */
export type SkillArg = SkillPositionalArg | SkillFlagArg | SkillSwitchArg

/** A value by itself; the call is refused when the parameter is missing. */
export interface SkillPositionalArg extends SkillValueArg {
  kind: 'positional'
}

/** A flag and its value, as two elements; nothing when the parameter is missing or null. */
export interface SkillFlagArg extends SkillValueArg {
  kind: 'flag'
  /** As the manifest wrote it, or the parameter's name: `content` stands for `--content`, `-c` for itself. */
  flag: string
}

interface SkillValueArg {
  param: string
  /** Literal `\n` and `\t` become a newline and a tab. */
  normalizeNewlines: boolean
  /** The value may start with `-`; a negative number always may. */
  allowDash: boolean
  resolver?: SkillResolver
}

/** A parameter that only says which of two flags is passed, if any. */
export interface SkillSwitchArg {
  kind: 'flagifboolean'
  param: string
  flagIfTrue?: string
  flagIfFalse?: string
}

/** A process whose output replaces a value. */
export interface SkillResolver {
  /** Name of a file in the skill's `scripts/`; it wins over the binary where scripts may run. */
  script?: string
  binary?: string
  subcommand?: string
  /** The digest of the script, or the program, in lower case hex; anything else isn't run. */
  sha256?: string
  /** `$param` stands for the value. */
  args: string[]
}

/** Hands out the texts of skills, and the files of Agent Skills, in the worker itself. */
export interface SkillFilesRun {
  kind: 'read-skill'
  /** `activate` adds a list of the skill's files and how its programs are run. */
  action: 'read' | 'activate'
  /** The text behind the front matter of each skill's SKILL.md, by the skill's name. */
  skills: Record<string, string>
  /** Stands for the texts where tools are compared. */
  version: string
  /** Absolute paths of their directories; absent where files aren't handed out. */
  directories?: Record<string, string>
  /** Whether programs of skills run here, and whether shell command lines do. */
  runs?: boolean
  shell?: boolean
  /** Names of the skills whose programs may make Unix sockets. */
  unixSockets?: readonly string[]
}

/** Runs a program of an Agent Skill: a script of it, or a program that the operator allows. */
export interface SkillProgramRun {
  kind: 'skill-run'
  skills: Record<string, RunnableSkill>
  /** Shell command lines are taken. */
  shell: boolean
}

/** The operator's part, and below that the skill's own, about running its programs. */
export interface RunnableSkill {
  /** Absolute path of the skill's directory. */
  directory: string
  /** Programs beside its scripts. */
  programs: readonly string[]
  /** Programs that `allowed-tools` of the skill leaves; absent: all. */
  ceiling?: readonly string[]
  permissions?: readonly Permission[]
  network?: readonly string[]
  secrets?: SecretUses
  limits?: ToolLimits
  timeoutSec?: number
  /** Absolute path of a virtual environment, whose programs come first. */
  python?: string
  envPassthrough: readonly string[]
  /** Scripts may write beside themselves. */
  overlay: boolean
  unixSockets: boolean
  /** Present for one that was added from elsewhere. */
  audit?: AuditStatus
}
