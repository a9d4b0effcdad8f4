import type { SkillResolver, SkillRun } from '@toolyard/manifests'
import type { Failure } from '../run/outcome.ts'
import type { ToolCall } from '../run/tool-call.ts'
import { type ProcessEnd, maxElementBytes } from '@toolyard/sandbox'
import { printedEnds } from '../result/stream-end.ts'
import { interruptionError } from '../run/interruption.ts'
import { allowedCommand, type SkillCommand } from './allowed-command.ts'
import type { Resolve } from './argv.ts'
import type { RunCallProcess } from './call-processes.ts'
import { findProgram, findScript } from './files.ts'

/**
 * Returns the resolver of a skill's values: trimmed stdout is the new value. Whatever goes wrong, and an empty
 * stdout too, keeps the value and is reported in the log; only a timeout or a cancel ends the call.
 */
export function createResolve (run: SkillRun, { context, worker }: ToolCall, runProcess: RunCallProcess): Resolve {
  const path = worker.env['PATH']
  return async (resolver, param, text) => {
    const answer = await answerOf(resolver, text, run, { runProcess, path })
    if (typeof answer !== 'string') return answer
    context.log(`[parameter ${param} is not resolved: ${answer}]`)
    return { ok: true, text }
  }
}

/** Linux starts nothing with more: an author may write `$param` any number of times. */
const mostArgvChars = 6_291_456

/** The new value, or why the resolver has no say. */
async function answerOf (
  resolver: SkillResolver, text: string, run: SkillRun, { runProcess, path }: { runProcess: RunCallProcess, path: string | undefined }
): Promise<ReturnType<typeof readAnswer>> {
  const command = await resolverCommand(resolver, run, path)
  if (typeof command === 'string') return command
  const places = resolver.args.reduce((sum, arg) => sum + arg.split('$param').length - 1, 0)
  if (places * text.length > mostArgvChars) return 'its arguments would be longer than any program takes'
  // `$param` is replaced wherever it stands. A value that starts with `-` is allowed: else it was refused before.
  const args = resolver.args.map(arg => arg.replaceAll('$param', () => text))
  return readAnswer(await runProcess({ ...command, args: [...command.args, ...args] }, maxElementBytes))
}

/** A script where scripts may run, else the allowlisted command. */
async function resolverCommand (
  { script, binary, subcommand, sha256 }: SkillResolver, run: SkillRun, path: string | undefined
): Promise<SkillCommand | string> {
  if (script !== undefined && run.allowScripts) return await scriptCommand(script, run, { path, sha256 })
  if (binary === undefined || subcommand === undefined) return script === undefined ? 'it names no command' : 'scripts are not allowed'
  const command = await allowedCommand(run, binary, subcommand, { path, sha256 })
  return command.ok ? command : command.error.message
}

/** How `sh` runs a script of a skill, or why it can't. */
export async function scriptCommand (
  script: string, run: Pick<SkillRun, 'directory'>, { path, sha256 }: { path: string | undefined, sha256: string | undefined }
): Promise<SkillCommand | string> {
  const [program, file] = await Promise.all([findProgram('sh', run.directory, path), findScript(run.directory, script)])
  if (file === undefined) return `scripts/ has no ${JSON.stringify(script)}`
  return program === undefined ? 'there is no sh' : { program, name: 'sh', args: [file], ...(sha256 === undefined ? {} : { pin: { file, sha256 } }) }
}

function readAnswer ({ ending, stdout, stderr }: ProcessEnd): { ok: true, text: string } | string | Failure {
  switch (ending.kind) {
    case 'timeout':
    case 'abort':
      return { ok: false, error: interruptionError(ending, printedEnds({ stdout, stderr })) }
    case 'signal':
      return `signal: ${ending.signal}`
    case 'unstarted':
      return ending.error.message
  }
  if (ending.code !== 0) return `exit status ${ending.code}`
  if (stdout.totalBytes > stdout.kept.length) return `it printed more than ${maxElementBytes} bytes`
  const text = stdout.kept.toString('utf8').trim()
  if (text === '') return 'it printed nothing'
  return text.includes('\0') ? 'it printed a NUL byte' : { ok: true, text }
}
