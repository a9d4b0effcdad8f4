import type { CommandRun } from '@toolyard/manifests'
import type { ProcessPlan, RunTrace } from '@toolyard/sandbox'
import { toolEnvironment } from '../run/environment.ts'

export interface CommandPlace {
  workspaceDir: string
  env: NodeJS.ProcessEnv
  /** Of the call; absent for a process that has none yet. */
  trace?: RunTrace | undefined
}

/** A command's process: its argv as declared, in the workspace. Nothing of a call is in it but its trace. */
export function commandPlan (run: CommandRun, { workspaceDir, env, trace }: CommandPlace): { plan: ProcessPlan, passedKeys: string[] } {
  const { variables, passedKeys } = toolEnvironment(run.envPassthrough, env, trace?.variables)
  return {
    plan: {
      program: run.program,
      name: run.name ?? run.program,
      args: run.args,
      env: variables,
      cwd: workspaceDir,
      ...(run.sha256 === undefined ? {} : { pin: { file: run.program, sha256: run.sha256 } })
    },
    passedKeys
  }
}
