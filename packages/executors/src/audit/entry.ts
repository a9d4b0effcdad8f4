import type { ProcessPlan } from '../process/plan.ts'
import type { ProcessEnd } from '../process/run-process.ts'

/**
 * One finished run of a process (AC21, X34). Stdin, output and values of variables are not in it; arguments of the call
 * are only where they are part of argv, as with skills.
 */
export interface AuditEntry {
  /** When the run ended. */
  at: Date
  tool: string
  /** The job's id. */
  job: string
  argv: string[]
  cwd: string
  /** Exit code; -1 when a signal, a timeout or a cancel ended the process, or it was never started. */
  exit: number
  /** Wall time in milliseconds. */
  ms: number
  stdoutBytes: number
  stderrBytes: number
  /** Whether stdout was longer than what was kept of it. */
  truncated: boolean
  /** Names of the variables that were passed beside PATH and HOME (A25, A26). */
  envKeys: string[]
  /** Why the process could not be started. */
  error?: string
}

/** Makes the entry of a run that ended now. */
export function auditEntry (call: Pick<AuditEntry, 'tool' | 'job' | 'envKeys'>, plan: ProcessPlan, end: ProcessEnd): AuditEntry {
  const { ending, stdout, stderr } = end
  return {
    ...call,
    at: new Date(),
    argv: [plan.program, ...plan.args],
    cwd: plan.cwd,
    exit: ending.kind === 'exit' ? ending.code : -1,
    ms: Math.round(end.ms),
    stdoutBytes: stdout.totalBytes,
    stderrBytes: stderr.totalBytes,
    truncated: stdout.totalBytes > stdout.kept.length,
    ...(ending.kind === 'unstarted' ? { error: ending.error.message } : {})
  }
}
