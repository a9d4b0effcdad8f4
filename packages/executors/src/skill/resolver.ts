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

/** Why a resolver has no say; the value stays as it is. */
export interface Kept {
  kept: string
}

/**
 * Returns the resolver of a skill's values: trimmed stdout is the new value. Whatever goes wrong, and an empty
 * stdout too, keeps the value and is reported in the log; only a timeout or a cancel ends the call.
 */
export function createResolve (run: SkillRun, { context, worker }: ToolCall, runProcess: RunCallProcess): Resolve {
  const path = worker.env['PATH']
  return async (resolver, param, text) => {
    const answer = await answerOf(resolver, text, run, { runProcess, path })
    if ('error' in answer) return answer
    if ('text' in answer) return { ok: true, text: answer.text }
    context.log(`[parameter ${param} is not resolved: ${answer.kept}]`)
    return { ok: true, text }
  }
}

async function answerOf (
  resolver: SkillResolver, text: string, run: SkillRun, { runProcess, path }: { runProcess: RunCallProcess, path: string | undefined }
): Promise<{ text: string } | Kept | Failure> {
  // `$param` is replaced wherever it stands. A value that starts with `-` is allowed: else it was refused before.
  const args = resolver.args.map(arg => arg.replaceAll('$param', () => text))
  const command = await resolverCommand(resolver, run, path)
  if ('kept' in command) return command
  return readAnswer(await runProcess({ ...command, args: [...command.args, ...args] }, maxElementBytes))
}

/** A script where scripts may run, else the allowlisted command. */
async function resolverCommand (
  { script, binary, subcommand, sha256 }: SkillResolver, run: SkillRun, path: string | undefined
): Promise<SkillCommand | Kept> {
  if (script !== undefined && run.allowScripts) return await scriptCommand(script, run, { path, sha256 })
  if (binary === undefined || subcommand === undefined) return { kept: script === undefined ? 'it names no command' : 'scripts are not allowed' }
  const command = await allowedCommand(run, binary, subcommand, { path, sha256 })
  return command.ok ? command : { kept: command.error.message }
}

/** How `sh` runs a script of a skill, or why it can't. */
export async function scriptCommand (
  script: string, run: Pick<SkillRun, 'directory'>, { path, sha256 }: { path: string | undefined, sha256: string | undefined }
): Promise<SkillCommand | Kept> {
  const [program, file] = await Promise.all([findProgram('sh', run.directory, path), findScript(run.directory, script)])
  if (file === undefined) return { kept: `scripts/ has no ${JSON.stringify(script)}` }
  return program === undefined ? { kept: 'there is no sh' } : { program, name: 'sh', args: [file], ...(sha256 === undefined ? {} : { pin: { file, sha256 } }) }
}

function readAnswer ({ ending, stdout, stderr }: ProcessEnd): { text: string } | Kept | Failure {
  switch (ending.kind) {
    case 'timeout':
    case 'abort':
      return { ok: false, error: interruptionError(ending, printedEnds({ stdout, stderr })) }
    case 'signal':
      return { kept: `signal: ${ending.signal}` }
    case 'unstarted':
      return { kept: ending.error.message }
  }
  if (ending.code !== 0) return { kept: `exit status ${ending.code}` }
  if (stdout.totalBytes > stdout.kept.length) return { kept: `it printed more than ${maxElementBytes} bytes` }
  const text = stdout.kept.toString('utf8').trim()
  if (text === '') return { kept: 'it printed nothing' }
  return text.includes('\0') ? { kept: 'it printed a NUL byte' } : { text }
}
