import { isRecord, firstChars } from '@toolyard/contract/terms'
import { isAbsolute, join, resolve } from 'node:path'
import { atPlace, foreignPath, inDirectory, nameOf } from '@toolyard/workspace'
import { integerArgument, textArgument, textsArgument } from '../kit/arguments.ts'
import { BuiltinFailure, type BuiltinContext, type BuiltinHandler } from '../kit/handler.ts'
import { findOnPath, isProgram, runProcess, type ProcessEnd } from '@toolyard/sandbox'
import { auditEntry } from '../../audit/entry.ts'
import { toolEnvironment } from '../../run/environment.ts'
import { lastChars } from '../../run/utf8.ts'

const timeoutMs = { min: 100, max: 120_000, default: 120_000 }
/** UTF-16 units of stdout that an answer has, and of each stream's end in the details of a failure. */
const outputChars = 256_000
const tailChars = 4_000
/** The call's own timeout leaves so long to end the process and answer with its output, in milliseconds. */
const reserveMs = 500

/**
 * Makes `tool.exec`: runs a program of the allowlist in the workspace, its arguments as they are and no
 * shell; a shell runs only when it is itself on the list and called by name. The program gets PATH and HOME and an
 * empty stdin. Returns `{command, args, duration_ms, stdout, stderr, code}`.
 *
 * @throws BuiltinFailure `command not allowed: X`, `tool.exec failed with exit N` or `tool.exec timeout`, the last two
 * with `stdout_tail` and `stderr_tail` in their details.
 */
export function createExec (allowlist: readonly string[]): BuiltinHandler {
  return async (args, context) => {
    const host = context.processes
    const command = textArgument(args['command'])
    if (command === '') throw new BuiltinFailure('command is required')
    if (!isAllowed(allowlist, command)) throw new BuiltinFailure(`command not allowed: ${firstChars(command, 200)}`, 'NOT_ALLOWED')
    const program = findProgram(command, host.worker.env['PATH'])
    if (program === undefined) throw new BuiltinFailure(`command not found: ${command}`, 'TOOL_UNAVAILABLE')
    const argv = textsArgument(args['args'])
    const end = await atPlace(context, textArgument(args['cwd']) || '.', { notFound: 'cwd not found' }, async place => {
      return await inDirectory(place, 'cwd', async directory => {
        const way = nameOf(place.relative)
        if (typeof way !== 'string') throw new BuiltinFailure('cwd has a name that is not UTF-8; move it to another one first')
        const plan = { program, name: command, args: argv, cwd: join(resolve(host.workspaceDir), way) }
        return await run(plan, { wantedMs: integerArgument(args['timeout_ms'], timeoutMs), startIn: host.box === undefined ? foreignPath(directory) : plan.cwd }, context)
      })
    })
    return answer({ command, args: argv }, end)
  }
}

/**
 * Whether `command` is on the allowlist as it is written: an entry with a slash is one exact path, any other is a
 * name, to be found on the PATH. So a program that a tool wrote into the workspace never passes as `node`.
 */
function isAllowed (allowlist: readonly string[], command: string): boolean {
  return allowlist.includes(command) && (!command.includes('/') || isAbsolute(command))
}

/** The program that a command means: itself when it is a path, else the first one of its name on the PATH. */
function findProgram (command: string, path: string | undefined): string | undefined {
  if (!command.includes('/')) return findOnPath(command, path)
  return isProgram(command) ? command : undefined
}

/** @param startIn what leads to `cwd`: in a box its path, which leads nowhere else there; in the open the opened directory. */
async function run (
  plan: { program: string, name: string, args: readonly string[], cwd: string },
  { wantedMs, startIn }: { wantedMs: number, startIn: string }, context: BuiltinContext
): Promise<ProcessEnd> {
  const host = context.processes
  const { variables, passedKeys } = toolEnvironment([], host.worker.env, host.trace?.variables)
  const whole = { ...plan, env: variables }
  const end = await runProcess({ ...whole, cwd: startIn }, {
    stdin: '',
    timeoutMs: Math.max(1, Math.min(wantedMs, context.timeoutMs - reserveMs)),
    signal: context.signal,
    maxOutputBytes: host.maxOutputBytes,
    onLine: context.log,
    onProgress: context.progress
  }, host)
  host.audit.record(auditEntry({ tool: context.tool.name, job: context.jobId, envKeys: passedKeys }, whole, end))
  return end
}

function answer (call: { command: string, args: string[] }, { ending, stdout, stderr, ms }: ProcessEnd): object {
  const [out, err] = [stdout.kept.toString('utf8'), stderr.kept.toString('utf8')]
  const details = { ...call, stdout_tail: lastChars(out, tailChars), stderr_tail: lastChars(err, tailChars) }
  switch (ending.kind) {
    case 'exit':
      if (ending.code !== 0) throw new BuiltinFailure(`tool.exec failed with exit ${ending.code}`, 'TOOL_FAILED', { ...details, code: ending.code })
      return { ...call, duration_ms: Math.round(ms), stdout: firstChars(out, outputChars), stderr: firstChars(err, outputChars), code: 0 }
    case 'signal':
      throw new BuiltinFailure(`tool.exec failed with signal ${ending.signal}`, 'TOOL_FAILED', { ...details, signal: ending.signal })
    case 'unstarted':
      throw new BuiltinFailure(ending.error.message, ending.error.code, isRecord(ending.error.details) ? ending.error.details : undefined)
    case 'timeout':
      throw new BuiltinFailure('tool.exec timeout', 'TOOL_TIMEOUT', { ...details, timeout_sec: ending.afterMs / 1_000 })
    case 'abort':
      throw new BuiltinFailure('Job was cancelled', 'JOB_CANCELLED')
  }
}
