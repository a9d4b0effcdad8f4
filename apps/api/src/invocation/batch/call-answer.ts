import { around, asError, HttpError, isRecord, type Batch, type CallError, type CallResult, type ChangedFiles, type OutputRecord, type ResultFile, type Settlement, type ToolMessage } from '@toolyard/contract'
import { RedisUnavailableError } from '@toolyard/store'
import type { ShownImage } from '../../outputs/shown-images.ts'

export type Call = Batch['calls'][number]

/** It is written for a caller or a model where it goes out: `resultOf`, `modelContent`. */
export type CallAnswer =
  /** The output is there whatever its value. `notice` tells a model how it comes to the rest of one that was cut. */
  | {
    kind: 'succeeded', jobId: string | undefined, output: unknown, notice?: string | undefined, shown?: ShownOutput | undefined, files?: ChangedFiles
  }
  /** Before or while it ran; a call that never became a job has no `jobId`. `log` is for the caller alone. */
  | { kind: 'failed', jobId: string | undefined, error: CallError, log?: string[] | undefined }
  /** It goes on, or waits for a person; `message` tells a model what it can do, and not to make up a result. */
  | { kind: 'pending', jobId: string, error: CallError, message: string }
  /** The job was made and nobody waits for it. */
  | { kind: 'accepted', jobId: string, jobType: string, message: string }

type PendingAnswer = Extract<CallAnswer, { kind: 'pending' }>

export function resultOf ({ call_id: callId, name }: Call, answer: CallAnswer): CallResult {
  switch (answer.kind) {
    case 'succeeded': {
      const { jobId, output, files: { files, moreFiles } = {} } = answer
      const result: CallResult = { call_id: callId, name, ok: true, output }
      if (jobId !== undefined) result.job_id = jobId
      if (files !== undefined) result.files = files
      if (moreFiles !== undefined) result.more_files = moreFiles
      return around(result)
    }
    case 'failed': {
      const job = answer.jobId === undefined ? {} : { job_id: answer.jobId }
      return around({ call_id: callId, name, ok: false, error: withLog(answer.error, answer.log), ...job })
    }
    case 'pending': return around({ call_id: callId, name, ok: false, pending: true, job_id: answer.jobId, error: answer.error })
    case 'accepted': return { call_id: callId, name, ok: true, job_id: answer.jobId, job_type: answer.jobType }
  }
}

/** For a model; its JSON is the content of a message. */
export function modelContent (answer: CallAnswer): Record<string, unknown> {
  switch (answer.kind) {
    case 'succeeded': {
      const { output, shown, files: { files, moreFiles } = {} } = answer
      const { value: result, notice } = shown ?? { value: output, notice: answer.notice }
      return around({
        ok: true,
        result,
        ...(files && { files: files.map(forModel) }),
        ...(moreFiles !== undefined && { more_files: moreFiles }),
        ...(notice !== undefined && { message: notice })
      })
    }
    case 'failed': return around({ ok: false, error: answer.error })
    case 'pending': return around({ ok: false, pending: true, job_id: answer.jobId, error: answer.error, message: answer.message })
    case 'accepted': return { ok: true, pending: true, job_id: answer.jobId, message: answer.message }
  }
}

export function toolMessage ({ call_id: id, name }: Call, content: string): ToolMessage {
  return { role: 'tool', tool_call_id: id, name, content }
}

/** A hash says nothing to a model. */
function forModel ({ path, size, type }: ResultFile): object {
  return { path, size, type }
}

function withLog (error: CallError, log: string[] | undefined): CallError {
  const { details = {} } = error
  return log === undefined || !isRecord(details) ? error : { ...error, details: { ...details, log } }
}

export function outcomeOf (answer: CallAnswer): string {
  switch (answer.kind) {
    case 'succeeded': return 'ok'
    case 'failed': return answer.error.code
    case 'pending':
    case 'accepted': return answer.kind
  }
}

export function failed (error: CallError, jobId?: string): CallAnswer {
  return { kind: 'failed', jobId, error }
}

/** `wait_ms` ended first. */
export function pending (jobId: string, message: string, why = 'Job did not complete within wait_ms'): CallAnswer {
  return { kind: 'pending', jobId, error: { code: 'TIMEOUT', message: why }, message }
}

/** The call waits until a person approves it. */
export function held ({ name }: Pick<Call, 'name'>, jobId: string, reason: string | undefined, hint: string): PendingAnswer {
  const why = reason === undefined ? '' : ` (${reason})`
  const message = `Job ${jobId} waits until somebody approves it${why}`
  return {
    kind: 'pending',
    jobId,
    error: { code: 'HELD', message },
    message: `Tool '${name}' has not run. ${message}. Its result is not known, so don't claim one${hint}`
  }
}

/** The tool asks something. */
export function asking ({ name }: Pick<Call, 'name'>, jobId: string, error: CallError, hint: string): PendingAnswer {
  return { kind: 'pending', jobId, error, message: `Tool '${name}' waits for an answer to its question, as job ${jobId}. Its result is not known, so don't claim one${hint}` }
}

export function accepted ({ name }: Call, { id, type }: { id: string, type: string }, hint: string): CallAnswer {
  return { kind: 'accepted', jobId: id, jobType: type, message: `Tool '${name}' was started as job ${id}: its output is not there yet${hint}` }
}

/** An output, and what a model is told of one that was cut. */
export interface ToldOutput {
  value: unknown
  notice?: string | undefined
}

/** An output whose images stand beside it, without their data. */
export interface ShownOutput extends ToldOutput {
  images: readonly ShownImage[]
}

/** An output as an answer has it, and as a model is told it where that is something else. */
export interface ReadValue extends ToldOutput {
  shown?: ShownOutput
}

/** @param tool the name of the tool whose output it is */
export type ReadOutput = (queue: string, jobId: string, record: OutputRecord, tool?: string) => Promise<ReadValue>

/** Reads the last lines of a job's log. */
export type ReadLog = (queue: string, jobId: string) => Promise<string[]>

/** How a call's answer is made of its job. */
export interface JobReading {
  /** Reads an output in the form that the answer has. */
  read: ReadOutput
  /** For a pending answer: how to come back. */
  hint: string
  /** For who asks for the log of a call that failed. */
  readLog?: ReadLog | undefined
}

/** The call's job, or the one that it asks for, has ended. */
export async function settled (
  call: Call, queue: string, jobId: string, settlement: Settlement, { read, hint, readLog }: JobReading
): Promise<CallAnswer> {
  if (!settlement.ok) {
    if (settlement.error.code === 'INPUT_REQUIRED') return asking(call, jobId, settlement.error, hint)
    // The call has its answer, also where the log can't be read now.
    const log = await readLog?.(queue, jobId).catch(() => undefined)
    return { kind: 'failed', jobId, error: settlement.error, log }
  }
  try {
    const { value, ...told } = await read(queue, jobId, settlement.output, call.name)
    return { kind: 'succeeded', jobId, output: value, ...told, files: settlement.output }
  } catch (cause) {
    // The output is safe beside the job and can be read when Redis is back, or other answers are read.
    if (cause instanceof RedisUnavailableError || (cause instanceof HttpError && cause.code === 'UNAVAILABLE')) {
      const why = `Job ${jobId} has ended, its output can't be read now`
      return pending(jobId, `${why}${hint}`, why)
    }
    return failed({ code: 'INTERNAL', message: asError(cause).message }, jobId)
  }
}
