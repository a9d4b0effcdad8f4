import type { CommandRun } from '@toolyard/manifests'
import type { ProcessPlan } from '@toolyard/sandbox'
import { toolEnvironment } from '../run/environment.ts'
import type { ToolCall, WorkerHost } from '../run/tool-call.ts'

/** A command's process: its argv as declared, in the workspace. Nothing of a call is in it but its trace and its own variables. */
export function commandPlan (
  run: CommandRun, { workspaceDir, env }: WorkerHost, call?: ToolCall
): { plan: ProcessPlan, passedKeys: string[] } {
  const { trace, variables: own } = call?.context ?? {}
  const ofCall = own === undefined ? trace?.variables : { ...trace?.variables, ...own }
  const { variables, passedKeys } = toolEnvironment(run.envPassthrough, env, ofCall)
  return {
    plan: {
      program: run.program,
      name: run.name ?? run.program,
      args: run.args,
      env: variables,
      cwd: call?.workspaceDir ?? workspaceDir,
      ...(run.sha256 === undefined ? {} : { pin: { file: run.program, sha256: run.sha256 } })
    },
    passedKeys
  }
}
