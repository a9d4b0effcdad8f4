import { failure, type Failure } from '../run/outcome.ts'
import type { Pin } from '@toolyard/sandbox'
import { findProgram } from './files.ts'

interface AllowlistedRun {
  /** Absolute path of the skill's directory. */
  directory: string
  allowlist: Readonly<Record<string, readonly string[]>>
}

export interface SkillCommand {
  /** Absolute path. */
  program: string
  /** Its own name for the program. */
  name: string
  args: string[]
  /** The program, or the script in `args`, must be this. */
  pin?: Pin
}

/** A program and what comes in front of the mapped arguments. */
type AllowedCommand = { ok: true } & SkillCommand | Failure

/**
 * Finds the program of a pair of the allowlist, or the program that wraps it: the list is about the pair. The subcommand is matched
 * as it is written, and then split on white space.
 */
export async function allowedCommand (
  run: AllowlistedRun, binary: string, subcommand: string,
  { path, sha256, wrapper = [] }: { path: string | undefined, sha256?: string | undefined, wrapper?: readonly string[] }
): Promise<AllowedCommand> {
  const refused = pairRefusal(run, binary, subcommand)
  if (refused !== undefined) return refused
  const [name, ...words] = [...wrapper, binary]
  const program = await findProgram(name, run.directory, path)
  if (program === undefined) return failure('TOOL_UNAVAILABLE', `program ${JSON.stringify(name)} cannot be started: not found`)
  const pin = sha256 === undefined ? {} : { pin: { file: program, sha256 } }
  return { ok: true, program, name, args: [...words, ...wordsOf(subcommand)], ...pin }
}

/** Why a pair may not run; undefined when it may. */
function pairRefusal ({ allowlist }: AllowlistedRun, binary: string, subcommand: string): Failure | undefined {
  const subcommands = Object.hasOwn(allowlist, binary) ? allowlist[binary] : undefined
  if (subcommands === undefined) return failure('NOT_ALLOWED', `binary not allowlisted: ${binary}`)
  return subcommands.includes(subcommand) ? undefined : failure('NOT_ALLOWED', `subcommand not allowlisted: ${binary} ${subcommand}`)
}

/** The elements of argv that a subcommand is. */
function wordsOf (text: string): string[] {
  return text.split(/\s+/).filter(element => element !== '')
}
