import type { SkillRun } from '@toolyard/manifests'
import { failure, type Failure } from '../run/outcome.ts'
import type { Pin } from '@toolyard/sandbox'
import { findProgram } from './files.ts'

export interface SkillCommand {
  /** Absolute path. */
  program: string
  /** What it is told as its own name. */
  name: string
  args: string[]
  /** The program, or the script in `args`, must be this. */
  pin?: Pin
}

/** A program and what comes in front of the mapped arguments. */
export type AllowedCommand = { ok: true } & SkillCommand | Failure

/**
 * Finds the program of a pair of the allowlist. The subcommand is matched as it is written, and then split
 * on white space.
 */
export async function allowedCommand (
  run: SkillRun, binary: string, subcommand: string, { path, sha256 }: { path: string | undefined, sha256: string | undefined }
): Promise<AllowedCommand> {
  const subcommands = Object.hasOwn(run.allowlist, binary) ? run.allowlist[binary] : undefined
  if (subcommands === undefined) return failure('NOT_ALLOWED', `binary not allowlisted: ${binary}`)
  if (!subcommands.includes(subcommand)) return failure('NOT_ALLOWED', `subcommand not allowlisted: ${binary} ${subcommand}`)
  const program = await findProgram(binary, run.directory, path)
  if (program === undefined) return failure('TOOL_UNAVAILABLE', `program ${JSON.stringify(binary)} cannot be started: not found`)
  return { ok: true, program, name: binary, args: subcommand.split(/\s+/).filter(element => element !== ''), ...(sha256 === undefined ? {} : { pin: { file: program, sha256 } }) }
}
