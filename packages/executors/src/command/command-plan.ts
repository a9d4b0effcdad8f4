import type { CommandRun } from '@toolyard/manifests'
import type { ProcessPlan, RunTrace } from '@toolyard/sandbox'
import { toolEnvironment } from '../run/environment.ts'

export interface CommandPlace {
  workspaceDir: string
  env: NodeJS.ProcessEnv
  /** Of the call; absent for a process that has none yet. */
  trace?: RunTrace | undefined
  /** Those of this call alone, such as secrets. */
  variables?: Readonly<Record<string, string>> | undefined
}

/** A command's process: its argv as declared, in the workspace. Nothing of a call is in it but its trace and its own variables. */
export function commandPlan (
  run: CommandRun, { workspaceDir, env, trace, variables: own }: CommandPlace
): { plan: ProcessPlan, passedKeys: string[] } {
  const ofCall = own === undefined ? trace?.variables : { ...trace?.variables, ...own }
  const { variables, passedKeys } = toolEnvironment(run.envPassthrough, env, ofCall)
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
