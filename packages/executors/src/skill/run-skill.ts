import { isRecord } from '@toolyard/contract/terms'
import type { SkillRun } from '@toolyard/manifests'
import type { CommandHost } from '../command/run-command.ts'
import type { Outcome, RunContext } from '../run/outcome.ts'
import { largeProcessOutput } from '../result/large-output.ts'
import { textOutput } from '../result/output.ts'
import { processOutcome } from '../result/process-outcome.ts'
import { allowedCommand } from './allowed-command.ts'
import { buildArgv } from './argv.ts'
import { createCallProcesses } from './call-processes.ts'
import { noObject } from './arguments.ts'
import { createResolve } from './resolver.ts'

/**
 * Runs a skill's tool: argv from the call's arguments, resolvers first, then the program by way of the allowlist.
 * The output is its stdout as text. Resolvers and program share the timeout of the context.
 */
export async function runSkill (name: string, run: SkillRun, args: unknown, context: RunContext, host: CommandHost): Promise<Outcome> {
  if (!isRecord(args)) return noObject
  const path = host.env['PATH']
  const runProcess = createCallProcesses(name, context, host)
  const argv = await buildArgv(run.args, args, createResolve(run, { runProcess, path, log: context.log }))
  if (!argv.ok) return argv
  const command = await allowedCommand(run, run.binary, run.subcommand, { path, sha256: run.sha256 })
  if (!command.ok) return command
  const { ok: _, ...found } = command
  const end = await runProcess({ ...found, args: [...found.args, ...argv.elements] }, host.maxOutputBytes)
  return await largeProcessOutput(end, 'text', { threads: host.threads, signal: context.signal }) ?? processOutcome(end, textOutput, context.jobId)
}
