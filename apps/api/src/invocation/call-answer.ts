import type { CallError, CallResult, ToolMessage } from '@toolyard/contract'
import type { Call } from './call-plan.ts'

/** One call's answer, for the caller and for the model. */
export interface CallAnswer {
  result: CallResult
  message: ToolMessage
}

/** The tool succeeded; `output` is there whatever its value (R22 to R24, X9). */
export function succeeded (call: Call, jobId: string, output: unknown): CallAnswer {
  return answer(call, { ok: true, output, job_id: jobId }, { ok: true, result: output })
}

/** The call failed, before or while it ran (R28). A call that never became a job has no `jobId`. */
export function failed (call: Call, error: CallError, jobId?: string): CallAnswer {
  return answer(call, { ok: false, error, ...(jobId === undefined ? {} : { job_id: jobId }) }, { ok: false, error })
}

/** `wait_ms` ended first (R25, R26). */
export function pending (call: Call, jobId: string): CallAnswer {
  const rest = { ok: false, pending: true, job_id: jobId, error: { code: 'TIMEOUT', message: 'Job did not complete within wait_ms' } } as const
  return answer(call, rest, rest)
}

/** The job was made and nobody waits for it (R27); such an answer has no message for the model (R42). */
export function accepted (call: Call, jobId: string, jobType: string): CallResult {
  return { call_id: call.call_id, name: call.name, ok: true, job_id: jobId, job_type: jobType }
}

function answer (call: Call, result: Omit<CallResult, 'call_id' | 'name'>, content: object): CallAnswer {
  return {
    result: { call_id: call.call_id, name: call.name, ...result },
    message: { role: 'tool', tool_call_id: call.call_id, name: call.name, content: JSON.stringify(content) }
  }
}
