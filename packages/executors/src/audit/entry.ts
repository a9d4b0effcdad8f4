import type { Permission } from '@toolyard/contract'
import { maxElementBytes, type ProcessPlan, type ProcessEnd, type SandboxReport } from '@toolyard/sandbox'

/**
 * One finished run of a process. Stdin, output and values of variables are not in it; arguments of the call
 * are only where they are part of argv, as with skills.
 */
export interface AuditEntry {
  /** When the run ended. */
  at: Date
  tool: string
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
  /** Names of the variables that were passed beside PATH and HOME. */
  envKeys: string[]
  /** Why the process could not be started. */
  error?: string
  /** A connection of a tool that names its hosts. */
  egress?: { host: string, port: number, decision: 'allowed' | 'denied', sentBytes: number, receivedBytes: number }
  call?: AuditedCall
}

/** Who called, with what, and what the processes of the call were allowed. */
export interface AuditedCall {
  /** Name of the API key. */
  key: string
  /** Absent for a key without one. */
  tenant?: string
  permissions: readonly Permission[]
  /** How well the process was shut in. */
  sandbox: SandboxReport['level']
  /** SHA-256 of the arguments as JSON, in hex: two equal calls show as such, their values don't. */
  argumentsSha256: string
}

/** How many characters are kept of an element that is too long to start anything. */
const shownOfTooLong = 1_000

export function auditEntry (call: Pick<AuditEntry, 'tool' | 'job' | 'envKeys'>, plan: ProcessPlan, end: ProcessEnd): AuditEntry {
  const { ending, stdout, stderr } = end
  return {
    at: new Date(),
    ...call,
    argv: [plan.program, ...plan.args.map(arg => arg.length > maxElementBytes ? `${arg.slice(0, shownOfTooLong)}[...]` : arg)],
    cwd: plan.cwd,
    exit: ending.kind === 'exit' ? ending.code : -1,
    ms: Math.round(end.ms),
    stdoutBytes: stdout.totalBytes,
    stderrBytes: stderr.totalBytes,
    truncated: stdout.totalBytes > stdout.kept.length,
    ...(ending.kind === 'unstarted' ? { error: ending.error.message } : {})
  }
}
