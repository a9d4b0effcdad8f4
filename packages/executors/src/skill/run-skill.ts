import { isRecord } from '@toolyard/contract/terms'
import type { SkillRun } from '@toolyard/manifests'
import { ownerOfCall, type Outcome } from '../run/outcome.ts'
import type { ToolCall } from '../run/tool-call.ts'
import { largeProcessOutput } from '../result/large-output.ts'
import { textOutput } from '../result/output.ts'
import { processOutcome } from '../result/process-outcome.ts'
import { allowedCommand } from './allowed-command.ts'
import { noObject } from './arguments.ts'
import { buildArgv } from './argv.ts'
import { createCallProcesses } from './call-processes.ts'
import { createResolve } from './resolver.ts'

/**
 * Runs a skill's tool: argv from the call's arguments, resolvers first, then the program by way of the allowlist.
 * The output is its stdout as text. Resolvers and program share the timeout of the context.
 */
export async function runSkill (run: SkillRun, call: ToolCall): Promise<Outcome> {
  if (!isRecord(call.args)) return noObject
  const { context, worker: { env, threads } } = call
  const path = env['PATH']
  const runProcess = createCallProcesses(call)
  const argv = await buildArgv(run.args, call.args, createResolve(run, call, runProcess))
  if (!argv.ok) return argv
  const command = await allowedCommand(run, run.binary, run.subcommand, { path, sha256: run.sha256 })
  if (!command.ok) return command
  const { ok: _, ...found } = command
  const end = await runProcess({ ...found, args: [...found.args, ...argv.elements] }, call.maxOutputBytes)
  const reading = { threads, signal: context.signal, owner: ownerOfCall(context) }
  return await largeProcessOutput(end, 'text', reading) ?? processOutcome(end, textOutput, context.jobId)
}
