import { auditEntry } from '../audit/entry.ts'
import { toolEnvironment } from '../run/environment.ts'
import type { ToolCall } from '../run/tool-call.ts'
import { runProcess, type ProcessEnd, type ProcessPlan } from '@toolyard/sandbox'
import type { SkillCommand } from './allowed-command.ts'

/** Runs one process of a call to its end, and keeps `maxOutputBytes` of what it prints. */
export type RunCallProcess = (command: SkillCommand, maxOutputBytes: number, more?: CallProcess) => Promise<ProcessEnd>

/** One process's own, beside the others of its call. */
export interface CallProcess {
  stdin?: string
  /** Absolute path; else the workspace. */
  cwd?: string
  variables?: Readonly<Record<string, string>>
  mounted?: ProcessPlan['mounted']
  parts?: ProcessPlan['parts'] | undefined
}

/**
 * Returns what runs the processes of one call: one after the other in the workspace, with PATH and HOME. They share the
 * timeout of the call, and each gets its line in the audit.
 */
export function createCallProcesses (call: ToolCall): RunCallProcess {
  const { tool, context } = call
  const { variables } = toolEnvironment([], call.worker.env, context.trace?.variables)
  const until = performance.now() + context.timeoutMs
  return async (command, maxOutputBytes, { stdin = '', cwd = call.workspaceDir, variables: own = {}, mounted = [], parts } = {}) => {
    const env = { ...variables, ...context.variables, ...own }
    const plan = { ...command, env, cwd, mounted, handed: context.handed ?? [], ...parts && { parts } }
    const end = await runProcess(plan, {
      stdin,
      timeoutMs: Math.max(0, until - performance.now()),
      signal: context.signal,
      maxOutputBytes,
      onLine: context.log,
      onProgress: context.progress
      // A box that was made ahead shows what was known before the call.
    }, parts === undefined ? call : { ...call, ready: undefined })
    call.audit.record(auditEntry({ tool: tool.name, job: context.jobId, envKeys: [] }, plan, end))
    // The error names the timeout of the call, not what was left of it.
    return end.ending.kind === 'timeout' ? { ...end, ending: { kind: 'timeout', afterMs: context.timeoutMs } } : end
  }
}
