import { around, asError, isRecord, writeJson, type CallError, type CallResult, type ChangedFiles, type OutputRecord, type ResultFile, type Settlement, type ToolMessage } from '@toolyard/contract'
import { RedisUnavailableError } from '@toolyard/store'
import type { Call } from './call-plan.ts'

/** One call's answer, for the caller and for the model. */
export interface CallAnswer {
  result: CallResult
  message: ToolMessage
}

/** The tool succeeded; `output` is there whatever its value. A model is told how it comes to the rest of one that was cut. */
export function succeeded (
  call: Call, jobId: string | undefined, { value: output, notice }: ReadValue, { files, moreFiles }: ChangedFiles = {}
): CallAnswer {
  const more = moreFiles === undefined ? {} : { more_files: moreFiles }
  return answer(call, { ok: true, output, ...(jobId !== undefined && { job_id: jobId }), ...(files && { files }), ...more }, {
    ok: true, result: output, ...(files && { files: files.map(forModel) }), ...more, ...(notice !== undefined && { message: notice })
  })
}

/** A hash says nothing to a model. */
function forModel ({ path, size, type }: ResultFile): object {
  return { path, size, type }
}

/** The call failed, before or while it ran. A call that never became a job has no `jobId`. */
export function failed (call: Call, error: CallError, jobId?: string): CallAnswer {
  return answer(call, { ok: false, error, ...(jobId === undefined ? {} : { job_id: jobId }) }, { ok: false, error })
}

/** An output as an answer has it; of one that was cut, what a model is told. */
export interface ReadValue {
  value: unknown
  notice?: string | undefined
}

export type ReadOutput = (queue: string, jobId: string, record: OutputRecord) => Promise<ReadValue>

/** Reads the last lines of a job's log. */
export type ReadLog = (queue: string, jobId: string) => Promise<string[]>

/** How a call's answer is made of its job. */
export interface JobReading {
  /** Reads an output in the form that the answer has. */
  read: ReadOutput
  /** What a pending answer says of coming back. */
  hint: string
  /** For who asks for the log of a call that failed. */
  readLog?: ReadLog | undefined
}

/** The call's job, or the one that it asks for, has ended. */
export async function settled (
  call: Call, queue: string, jobId: string, settlement: Settlement, { read, hint, readLog }: JobReading
): Promise<CallAnswer> {
  if (!settlement.ok && settlement.error.code === 'INPUT_REQUIRED') return asking(call, jobId, settlement.error, hint)
  if (!settlement.ok) return await withLog(failed(call, settlement.error, jobId), async () => await readLog?.(queue, jobId))
  try {
    return succeeded(call, jobId, await read(queue, jobId, settlement.output), settlement.output)
  } catch (cause) {
    // The output is safe beside the job and can be read when Redis is back.
    if (cause instanceof RedisUnavailableError) return pending(call, jobId, `Job ${jobId} has ended, its output can't be read now${hint}`)
    return failed(call, { code: 'INTERNAL', message: asError(cause).message }, jobId)
  }
}

/** The message for the model stays as it is. */
async function withLog ({ result, message }: CallAnswer, readLog: () => Promise<string[] | undefined>): Promise<CallAnswer> {
  // The call has its answer, also where the log can't be read now.
  const log = await readLog().catch(() => undefined)
  const { error } = result
  const details = error?.details ?? {}
  if (error === undefined || log === undefined || !isRecord(details)) return { result, message }
  return { result: { ...result, error: { ...error, details: { ...details, log } } }, message }
}

/** `wait_ms` ended first; the model is told what it can do. */
export function pending (call: Call, jobId: string, message: string): CallAnswer {
  const rest = { ok: false, pending: true, job_id: jobId, error: { code: 'TIMEOUT', message: 'Job did not complete within wait_ms' } } as const
  return answer(call, rest, { ...rest, message })
}

/** The call waits until a person approves it; the model is told not to make up its result. */
export function held (call: Call, jobId: string, reason: string | undefined, hint: string): CallAnswer {
  const why = reason === undefined ? '' : ` (${reason})`
  const error = { code: 'HELD', message: `Job ${jobId} waits until somebody approves it${why}` } as const
  const rest = { ok: false, pending: true, job_id: jobId, error } as const
  return answer(call, rest, { ...rest, message: heldText(call.name, error.message, hint) })
}

/** The tool asks something; the model is told not to make up the answer. */
function asking (call: Call, jobId: string, error: CallError, hint: string): CallAnswer {
  const rest = { ok: false, pending: true, job_id: jobId, error } as const
  return answer(call, rest, { ...rest, message: `Tool '${call.name}' waits for an answer to its question, as job ${jobId}. Its result is not known, so don't claim one${hint}` })
}

/** What a model is told of a call that waits for a person. */
export function heldText (name: string, what: string, hint: string): string {
  return `Tool '${name}' has not run. ${what}. Its result is not known, so don't claim one${hint}`
}

/** The job was made and nobody waits for it; such an answer has no message for the model. */
export function accepted (call: Call, jobId: string, jobType: string): CallResult {
  return { call_id: call.call_id, name: call.name, ok: true, job_id: jobId, job_type: jobType }
}

function answer (call: Call, result: Omit<CallResult, 'call_id' | 'name'>, content: object): CallAnswer {
  return {
    result: around({ call_id: call.call_id, name: call.name, ...result }),
    message: { role: 'tool', tool_call_id: call.call_id, name: call.name, content: writeJson(around(content)) }
  }
}
