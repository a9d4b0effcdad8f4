import type { SkillSwitchArg } from './skill-run.ts'

/** A tool of a skill with three files. The first execution that fits a call runs it. */
export interface SkillCommandRun {
  kind: 'skill-command'
  /** Absolute path of the skill's directory. */
  directory: string
  executions: readonly SkillExecution[]
  /** Subcommands by binary; only these pairs may run. */
  allowlist: Readonly<Record<string, readonly string[]>>
  /** Files of the skill's `scripts/` may run. */
  allowScripts: boolean
}

/** One way of running a tool: a program, its arguments, and what becomes of its output. */
export interface SkillExecution {
  binary: string
  /** As the manifest wrote it: matched as a whole, then split on white space. */
  subcommand: string
  /** A command line in front of the program. */
  wrapper: readonly string[]
  /** Parameters that a call must have, and must not have; absent: it runs where no other one fits. */
  when?: { present: readonly string[], absent: readonly string[] }
  args: readonly MappedArg[]
  successExitCodes: readonly number[]
  postProcess?: SkillHelper & { emptyIsResult: boolean }
  hints: readonly SkillHint[]
  sideRead?: { param: string, filename: string, label: string, oncePerSession: boolean }
  maxOutputLines?: number
  truncationHint?: string
}

/** A script of the skill, or a pair of the allowlist. */
export interface SkillHelper {
  script?: string
  binary?: string
  subcommand?: string
  /** An element that is `$name` as a whole stands for a value. */
  args: readonly string[]
}

/** When a line is added to an output: all that is there must hold. */
export interface SkillHint {
  match?: string
  exitCode?: number | 'nonzero'
  notEmpty: boolean
  whenArg?: Readonly<Record<string, unknown>>
  hint: string
}

/** A value that the skill's author gave for a parameter that a call leaves out. */
export type DefaultValue = string | number | boolean

/** How one parameter, or a fixed text, becomes a part of what runs. */
export type MappedArg = MappedValue | MappedSwitch | { kind: 'literal', value: string }

/** A parameter whose value goes to argv, to stdin, into a file, or says where the program runs. */
export interface MappedValue {
  kind: 'positional' | 'flag' | 'stdin' | 'workingdir' | 'tempfile'
  param: string
  /** With its dashes; of the kinds flag and tempfile. */
  flag: string
  optional: boolean
  /** Each word of the value is an element. */
  split: boolean
  /** `--` comes first where an optional value before it was left out. */
  separated: boolean
  /** The value, and each word of it, may start with `-`. */
  allowDash: boolean
  absentDefault?: DefaultValue
  resolver?: SkillHelper
  /**
   * `read` and `write`: a path inside the workspace. `any`: a value that isn't looked at. Absent: one that must not look
   * like a path to elsewhere.
   */
  path?: 'read' | 'write' | 'any'
  deny?: SkillDenial
}

/** A parameter that only says which flag is passed, or which subcommand runs. */
export interface MappedSwitch extends SkillSwitchArg {
  absentDefault?: DefaultValue
  /** The subcommand where the value is true; no flag is passed then. */
  subcommandOverride?: string
  deny?: SkillDenial
}

/** A value that is refused. */
export interface SkillDenial {
  pattern: string
  /** Gives the text that is looked at where the call has no value. */
  resolver?: SkillHelper
  /** The resolver gives it in any case. */
  always: boolean
}
