import { callErrors, type CallError } from '@toolyard/contract/terms'
import type { Interruption } from '@toolyard/sandbox'

/**
 * The error of a run that was ended from outside: `TOOL_TIMEOUT` with the ends of what it had
 * printed, or the abort's own reason when that is a call error (a worker that stops says `WORKER_LOST`), else
 * `JOB_CANCELLED`.
 */
export function interruptionError (interruption: Interruption, printed: { stderr?: string, stdout?: string } = {}): CallError {
  if (interruption.kind === 'timeout') return { code: 'TOOL_TIMEOUT', message: 'tool timed out', details: { timeout_sec: interruption.afterMs / 1_000, ...printed } }
  return asCallError(interruption.reason) ?? { code: 'JOB_CANCELLED', message: 'Job was cancelled' }
}

function asCallError (reason: unknown): CallError | undefined {
  if (typeof reason !== 'object' || reason === null) return undefined
  const { code, message, details } = reason as Partial<CallError>
  if (typeof code !== 'string' || !Object.hasOwn(callErrors, code) || typeof message !== 'string') return undefined
  return details === undefined ? { code, message } : { code, message, details }
}
