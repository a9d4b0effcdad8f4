import { Buffer } from 'node:buffer'
import { join } from 'node:path'
import { isRecord } from '@toolyard/contract/terms'
import type { SkillCommandRun, SkillExecution, MappedValue } from '@toolyard/manifests'
import { findOnPath, type ProcessEnd, type ProcessPlan } from '@toolyard/sandbox'
import { readLargeOutput, shortOutput } from '../../result/large-output.ts'
import { processOutcome } from '../../result/process-outcome.ts'
import { cutText } from '../../result/output.ts'
import { failure, ownerOfCall, type Failure, type Outcome } from '../../run/outcome.ts'
import type { ToolCall } from '../../run/tool-call.ts'
import { allowedCommand, type SkillCommand } from '../allowed-command.ts'
import { noObject } from '../arguments.ts'
import { createCallProcesses } from '../call-processes.ts'
import { accessRefusal, executionOf } from './choose.ts'
import type { SkillCall } from './helper.ts'
import { insidePath } from './inside-path.ts'
import { prepare, type Prepared } from './prepare.ts'
import { isShaped, shaped, withoutLineEnds } from './shape-output.ts'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'

/** Bytes of an output that is shaped; what is longer is cut first. */
const shapedBytes = 1_048_576
/** Bytes of a file that is read beside an output. */
const sideReadBytes = 65_536

interface PreparedCall extends SkillCall {
  execution: SkillExecution
  prepared: Prepared
}

/**
 * Runs a tool of a skill with three files: its arguments are checked and resolved, then its program runs by way of the
 * allowlist, and what it prints becomes what a model reads. All processes of the call share the timeout of the context.
 */
export async function runSkillCommand (run: SkillCommandRun, call: ToolCall): Promise<Outcome> {
  if (!isRecord(call.args)) return noObject
  const chosen = executionOf(run, call.args)
  if (!chosen.ok) return chosen
  const { execution } = chosen
  const refused = accessRefusal(execution, call.held)
  if (refused !== undefined) return refused
  // Directories of values are in no box that was made ahead.
  const hasFiles = execution.args.some(({ kind }) => kind === 'tempfile')
  const runProcess = createCallProcesses(hasFiles ? { ...call, ready: undefined } : call)
  const skill = { run, call, runProcess, path: call.worker.env['PATH'] }
  const prepared = await prepare(execution, skill)
  if (!prepared.ok) return prepared
  const ready = { ...skill, execution, prepared }
  const command = await allowedCommand(run, execution.binary, prepared.subcommand, { path: skill.path, wrapper: execution.wrapper })
  if (!command.ok) return command
  const made = await makeDirectories(prepared.parents, skill)
  return made ?? await runPrepared(ready, command)
}

/** In the box of the call: what a link in the way leads to isn't there. */
async function makeDirectories (directories: readonly string[], { runProcess, path }: SkillCall): Promise<Failure | undefined> {
  if (directories.length === 0) return undefined
  const program = findOnPath('mkdir', path)
  if (program === undefined) return failure('TOOL_UNAVAILABLE', 'program "mkdir" cannot be started: not found')
  const end = await runProcess({ program, name: 'mkdir', args: ['-p', '--', ...directories] }, 1_024)
  const outcome = processOutcome(end, cutText, '')
  return outcome.ok ? undefined : outcome
}

async function runPrepared (ready: PreparedCall, command: SkillCommand): Promise<Outcome> {
  const { execution, prepared, runProcess, call } = ready
  const files = await writeTempFiles(prepared.files, call.box !== undefined)
  try {
    const own = prepared.argv.flatMap(element => {
      if (typeof element === 'string') return [element]
      const { arg, elements } = element
      return arg.kind === 'tempfile' ? [arg.flag, files.pathOf(arg)] : arg.kind === 'flag' ? [arg.flag, ...elements] : elements
    })
    const maxBytes = isShaped(execution) ? Math.min(call.maxOutputBytes, shapedBytes) : call.maxOutputBytes
    const { stdin, cwd, parts } = prepared
    const process = { stdin, cwd, mounted: files.mounted, parts }
    const end = await runProcess({ ...command, args: [...command.args, ...own] }, maxBytes, process)
    return await outcomeOf(end, ready)
  } finally {
    await files.remove()
  }
}

async function outcomeOf (end: ProcessEnd, ready: PreparedCall): Promise<Outcome> {
  const { execution, prepared, call: { context, maxOutputBytes, worker: { threads } } } = ready
  const { ending, stdout, stderr } = end
  const isSuccess = ending.kind === 'exit' && (ending.code === 0 || execution.successExitCodes.includes(ending.code))
  if (!isSuccess) return processOutcome(end, cutText, context.jobId)
  const isCut = stdout.totalBytes > stdout.kept.length
  let bytes = merged(stdout.kept, stderr.kept)
  if (isShaped(execution)) {
    const result = await shaped(bytes.toString('utf8'), ready, {
      execution, code: ending.code, args: prepared.effective, cwd: prepared.cwd, maxBytes: Math.min(maxOutputBytes, shapedBytes)
    })
    if (!result.ok) return result
    bytes = Buffer.from(`${result.text}${await sideRead(result.text, ready)}`)
  }
  const cut = isCut ? { cut: { bytes: Math.max(stdout.totalBytes, bytes.length), storedBytes: bytes.length } } : {}
  if (bytes.length <= shortOutput) return { ok: true, output: bytes.toString('utf8'), ...cut }
  const read = await readLargeOutput({ bytes, kind: 'text' }, { threads, signal: context.signal, owner: ownerOfCall(context) })
  return read.ok ? { ...read, ...cut } : read
}

/** The program's stderr stands behind its output, in lines of its own. */
function merged (stdout: Buffer, stderr: Buffer): Buffer {
  if (stderr.length === 0) return stdout
  const between = stdout.length === 0 || stdout.at(-1) === 0x0a ? '' : '\n'
  return Buffer.concat([stdout, Buffer.from(between), stderr])
}

/** A file beside what a path names, which is read in the box of the call; empty where there is none. */
async function sideRead (text: string, { execution: { sideRead: wanted }, prepared, runProcess, ...skill }: PreparedCall): Promise<string> {
  const { call } = skill
  const { context, worker: { shownFiles } } = call
  const directory = wanted === undefined ? undefined : prepared.effective[wanted.param]
  const cat = findOnPath('cat', skill.path)
  if (wanted === undefined || typeof directory !== 'string' || directory === '' || cat === undefined) return ''
  const path = await insidePath(wanted.param, join(directory, wanted.filename), { real: call.filesDir, seen: call.workspaceDir })
  if (!path.ok) return ''
  const { ending, stdout } = await runProcess({ program: cat, name: 'cat', args: ['--', path.seen] }, sideReadBytes)
  const content = stdout.kept.toString('utf8')
  if (ending.kind !== 'exit' || ending.code !== 0 || content.trim() === '') return ''
  if (wanted.oncePerSession && context.session !== undefined && await shownFiles?.isFirst(context.session.id, path.seen) === false) return ''
  const lead = text === '' || text.endsWith('\n\n') ? '' : text.endsWith('\n') ? '\n' : '\n\n'
  return `${lead}--- ${wanted.label} (BOF) ---\n\n${withoutLineEnds(content)}\n\n--- ${wanted.label} (EOF) ---`
}

/** Where a box shows the files of a call. */
const place = '/tempfiles'

interface TempFiles {
  mounted: NonNullable<ProcessPlan['mounted']>
  /** As processes see it. */
  pathOf (arg: MappedValue): string
  remove (): Promise<void>
}

/** Writes each text into a file of its own, which a box shows read-only. */
async function writeTempFiles (files: ReadonlyMap<MappedValue, string>, isBoxed: boolean): Promise<TempFiles> {
  if (files.size === 0) return { mounted: [], pathOf: () => '', remove: async () => {} }
  const source = await mkdtemp(join(tmpdir(), 'toolyard-values-'))
  const remove = async (): Promise<void> => { await rm(source, { recursive: true, force: true }) }
  const names = new Map([...files.keys()].map((arg, index) => [arg, `value-${index}`]))
  try {
    for (const [arg, text] of files) await writeFile(join(source, names.get(arg) ?? ''), text, { mode: 0o600 })
  } catch (error) {
    await remove()
    throw error
  }
  return {
    mounted: isBoxed ? [{ source, place }] : [],
    pathOf: arg => join(isBoxed ? place : source, names.get(arg) ?? ''),
    remove
  }
}
