import { Buffer } from 'node:buffer'
import { join } from 'node:path'
import type { Permission } from '@toolyard/contract'
import { isRecord } from '@toolyard/contract/terms'
import type { SkillCommandRun, SkillExecution } from '@toolyard/manifests'
import { findOnPath, type ProcessEnd } from '@toolyard/sandbox'
import type { CommandHost } from '../../command/run-command.ts'
import { readLargeOutput, shortOutput } from '../../result/large-output.ts'
import { processOutcome } from '../../result/process-outcome.ts'
import { cutText } from '../../result/output.ts'
import { failure, type Failure, type Outcome, type RunContext } from '../../run/outcome.ts'
import { allowedCommand, pairRefusal, wordsOf, type SkillCommand } from '../allowed-command.ts'
import { noObject } from '../arguments.ts'
import { createCallProcesses, type RunCallProcess } from '../call-processes.ts'
import { findProgram } from '../files.ts'
import { accessRefusal, executionOf } from './choose.ts'
import type { CompileDeny } from './deny.ts'
import type { HelperHost } from './helper.ts'
import { insidePath } from './inside-path.ts'
import { prepare, type Prepared } from './prepare.ts'
import { isShaped, shaped, withoutLineEnds } from './shape-output.ts'
import { writeTempFiles } from './temp-files.ts'

/** Bytes of an output that is shaped; what is longer is cut first. */
const shapedBytes = 1_048_576
/** Bytes of a file that is read beside an output. */
const sideReadBytes = 65_536

/** Remembers which files the model of a session has been shown. */
export interface ShownFiles {
  /** Notes a file, and says whether it is new to the session. */
  isFirst (session: string, path: string): Promise<boolean>
}

export interface SkillCommandHost extends CommandHost {
  /** Absolute path of the workspace, or of the session's directory. */
  filesDir: string
  compileDeny: CompileDeny | undefined
  /** Absent: every file is new to everybody. */
  shownFiles: ShownFiles | undefined
  /** What the tool may do by its manifest and the service's settings; undefined: nothing says it. */
  held: readonly Permission[] | undefined
}

interface Call {
  run: SkillCommandRun
  execution: SkillExecution
  prepared: Prepared
  helpers: HelperHost
  host: SkillCommandHost
  context: RunContext
}

/**
 * Runs a tool of a skill with three files: its arguments are checked and resolved, then its program runs by way of the
 * allowlist, and what it prints becomes what a model reads. All processes of the call share the timeout of the context.
 */
export async function runSkillCommand (
  name: string, run: SkillCommandRun, args: unknown, context: RunContext, host: SkillCommandHost
): Promise<Outcome> {
  if (!isRecord(args)) return noObject
  const chosen = executionOf(run, args)
  if (!chosen.ok) return chosen
  const { execution } = chosen
  const refused = accessRefusal(execution, host.held)
  if (refused !== undefined) return refused
  // Directories of values are in no box that was made ahead.
  const hasFiles = execution.args.some(({ kind }) => kind === 'tempfile')
  const runProcess = createCallProcesses(name, context, hasFiles ? { ...host, ready: undefined } : host)
  const helpers = { run, runProcess, path: host.env['PATH'] }
  const places = { real: host.filesDir, seen: host.workspaceDir }
  const prepared = await prepare(execution, args, { helpers, places, compileDeny: host.compileDeny })
  if (!prepared.ok) return prepared
  const call = { run, execution, prepared, helpers, host, context }
  const command = await commandOf(call)
  if ('ok' in command) return command
  const made = await makeDirectories(prepared.parents, runProcess, host.env['PATH'])
  return made ?? await runPrepared(call, command)
}

/** The program, or what wraps it; the allowlist is about the program. */
async function commandOf ({ run, execution: { binary, wrapper }, prepared: { subcommand }, host }: Call): Promise<SkillCommand | Failure> {
  const path = host.env['PATH']
  const [first, ...rest] = wrapper
  if (first === undefined) {
    const command = await allowedCommand(run, binary, subcommand, { path, sha256: undefined })
    if (!command.ok) return command
    const { ok: _, ...found } = command
    return found
  }
  const refused = pairRefusal(run, binary, subcommand)
  if (refused !== undefined) return refused
  const program = await findProgram(first, run.directory, path)
  if (program === undefined) return failure('TOOL_UNAVAILABLE', `program ${JSON.stringify(first)} cannot be started: not found`)
  return { program, name: first, args: [...rest, binary, ...wordsOf(subcommand)] }
}

/** In the box of the call: what a link in the way leads to isn't there. */
async function makeDirectories (
  directories: readonly string[], runProcess: RunCallProcess, path: string | undefined
): Promise<Failure | undefined> {
  if (directories.length === 0) return undefined
  const program = findOnPath('mkdir', path)
  if (program === undefined) return failure('TOOL_UNAVAILABLE', 'program "mkdir" cannot be started: not found')
  const end = await runProcess({ program, name: 'mkdir', args: ['-p', '--', ...directories] }, 1_024)
  const outcome = processOutcome(end, cutText, '')
  return outcome.ok ? undefined : outcome
}

async function runPrepared (call: Call, command: SkillCommand): Promise<Outcome> {
  const { execution, prepared, helpers, host } = call
  const files = await writeTempFiles(prepared.files, host.box !== undefined)
  try {
    const own = prepared.argv.flatMap(element => {
      if (typeof element === 'string') return [element]
      const { arg, elements } = element
      return arg.kind === 'tempfile' ? [arg.flag, files.pathOf(arg)] : arg.kind === 'flag' ? [arg.flag, ...elements] : elements
    })
    const maxBytes = isShaped(execution) ? Math.min(host.maxOutputBytes, shapedBytes) : host.maxOutputBytes
    const { stdin, cwd, parts } = prepared
    const process = { stdin, cwd, mounted: files.mounted, parts }
    const end = await helpers.runProcess({ ...command, args: [...command.args, ...own] }, maxBytes, process)
    return await outcomeOf(end, call)
  } finally {
    await files.remove()
  }
}

async function outcomeOf (end: ProcessEnd, call: Call): Promise<Outcome> {
  const { execution, prepared, helpers, host, context } = call
  const { ending, stdout, stderr } = end
  const isSuccess = ending.kind === 'exit' && (ending.code === 0 || execution.successExitCodes.includes(ending.code))
  if (!isSuccess) return processOutcome(end, cutText, context.jobId)
  const isCut = stdout.totalBytes > stdout.kept.length
  let bytes = merged(stdout.kept, stderr.kept)
  if (isShaped(execution)) {
    const result = await shaped(bytes.toString('utf8'), execution, {
      helpers,
      log: context.log,
      maxBytes: Math.min(host.maxOutputBytes, shapedBytes),
      code: ending.code,
      args: prepared.effective,
      more: { cwd: prepared.cwd }
    })
    if (!result.ok) return result
    bytes = Buffer.from(`${result.text}${await sideRead(result.text, call)}`)
  }
  const cut = isCut ? { cut: { bytes: Math.max(stdout.totalBytes, bytes.length), storedBytes: bytes.length } } : {}
  if (bytes.length <= shortOutput) return { ok: true, output: bytes.toString('utf8'), ...cut }
  const read = await readLargeOutput({ bytes, kind: 'text' }, { threads: host.threads, signal: context.signal })
  return read.ok ? { ...read, ...cut } : read
}

/** What a program says on stderr stands behind its output, in lines of its own. */
function merged (stdout: Buffer, stderr: Buffer): Buffer {
  if (stderr.length === 0) return stdout
  const between = stdout.length === 0 || stdout.at(-1) === 0x0a ? '' : '\n'
  return Buffer.concat([stdout, Buffer.from(between), stderr])
}

/** A file beside what a path names, which is read in the box of the call; empty where there is none. */
async function sideRead (text: string, { execution: { sideRead: wanted }, prepared, helpers, host, context }: Call): Promise<string> {
  const directory = wanted === undefined ? undefined : prepared.effective[wanted.param]
  const cat = findOnPath('cat', host.env['PATH'])
  if (wanted === undefined || typeof directory !== 'string' || directory === '' || cat === undefined) return ''
  const path = await insidePath(wanted.param, join(directory, wanted.filename), { real: host.filesDir, seen: host.workspaceDir })
  if (!path.ok) return ''
  const { ending, stdout } = await helpers.runProcess({ program: cat, name: 'cat', args: ['--', path.seen] }, sideReadBytes)
  const content = stdout.kept.toString('utf8')
  if (ending.kind !== 'exit' || ending.code !== 0 || content.trim() === '') return ''
  if (wanted.oncePerSession && context.session !== undefined && await host.shownFiles?.isFirst(context.session.id, path.seen) === false) return ''
  const lead = text === '' || text.endsWith('\n\n') ? '' : text.endsWith('\n') ? '\n' : '\n\n'
  return `${lead}--- ${wanted.label} (BOF) ---\n\n${withoutLineEnds(content)}\n\n--- ${wanted.label} (EOF) ---`
}
