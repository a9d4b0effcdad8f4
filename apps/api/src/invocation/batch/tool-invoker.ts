import { HttpError, type Batch, type CallError, type OutputCut, type QuestionView, type ResultFile, type ToolDryRun } from '@toolyard/contract'
import { argumentsOf, type OutputStore } from '@toolyard/queue'
import { JobsUnknownError, RedisUnavailableError, required } from '@toolyard/store'
import type { Principal } from '../../access/principal.ts'
import type { BatchInvoker, Caller } from './batch-invoker.ts'
import type { CallAnswer } from './call-answer.ts'

export interface ToolCall {
  name: string
  arguments: Record<string, unknown>
  waitMs: number
  queue: string
  session?: string | undefined
  /** For a caller who goes away; `leave` when absent. */
  onDisconnect?: Batch['onDisconnect']
  /** How much of an output the caller shows; undefined for all. */
  maxOutputChars?: number | undefined
}

/** `json` is the whole output in pieces, as far as it was kept; `cut` tells of the rest. */
export type ToolAnswer<Json = readonly Buffer[]> =
  | { kind: 'output', /** Absent for what makes no job and asks for none. */ jobId: string | undefined, json: Json, cut: OutputCut | undefined, /** Of the session, that were made or changed. */ files?: ResultFile[] }
  | { kind: 'pending', jobId: string, /** It goes on, or waits for a person. */ code: 'TIMEOUT' | 'HELD' | 'INPUT_REQUIRED', question?: QuestionView, /** For a model: what goes on, and how it gets the answer. */ message: string }
  | FailedCall

export interface FailedCall {
  kind: 'failed'
  jobId: string | undefined
  error: CallError
  /** An earlier attempt of the job may have run the tool, whatever the last one came to. */
  mayHaveRun: boolean
  /** A fault of the service, for its log. */
  cause?: unknown
}

/** Runs a call as a batch of one, so that the rules of batches hold for it; its output stays the text that it is stored as. */
export class ToolInvoker {
  readonly #batches: BatchInvoker
  readonly #outputs: OutputStore
  readonly #maxAttempts: (name: string) => number

  /** @param maxAttempts how often a job of the tool is tried at most. */
  constructor (batches: BatchInvoker, outputs: OutputStore, maxAttempts: (name: string) => number) {
    this.#batches = batches
    this.#outputs = outputs
    this.#maxAttempts = maxAttempts
  }

  /** A call's outcome, as far as it is known without a job. @throws as `BatchInvoker.plan` */
  async dryRun ({ name, arguments: args, waitMs, queue, session }: ToolCall, principal: Principal): Promise<ToolDryRun | FailedCall> {
    const batch: Batch = { calls: [{ call_id: '', name, arguments: args }], mode: 'async', waitMs, queue, session, onDisconnect: 'leave', callbackUrl: undefined }
    const { state, hold } = required((await this.#batches.plan(batch, principal))[0], 'a call')
    const run = { ok: true, dry_run: true } as const
    switch (state.kind) {
      case 'refused': return { kind: 'failed', jobId: undefined, error: state.error, mayHaveRun: false }
      case 'service': return { ...run, tool: name, would: 'run', arguments: args }
      case 'made': throw new Error('A call that was only planned has a job')
      case 'planned': {
        const { data } = state.job
        const planned = { tool: data.tool, arguments: await argumentsOf(data) }
        if (hold === undefined) return { ...run, ...planned, would: 'run' }
        const { reason = null, rule = null, approvers, expiresSec } = hold
        return { ...run, ...planned, would: 'hold', hold: { reason, rule, approvers, expires_sec: expiresSec } }
      }
    }
  }

  /** @throws as `BatchInvoker.invoke`; without an `Idempotency-Key` only while there is surely no job. */
  async invoke ({ name, arguments: args, waitMs, queue, session, onDisconnect = 'leave', maxOutputChars }: ToolCall, caller: Caller): Promise<ToolAnswer> {
    let output: { json: readonly Buffer[], cut: OutputCut | undefined } | undefined
    const readOutput: Caller['readOutput'] = async (queue, jobId, record) => {
      caller.room?.take(record.kind === 'stored' ? record.bytes : 0)
      const json = await this.#outputs.readPieces(queue, jobId, record)
      if (json === undefined) throw new Error('The output is gone: its retention time is over')
      output = { json, cut: record.cut }
      return { value: undefined }
    }
    // No batch has an empty call_id: the same Idempotency-Key with a batch is another request.
    const batch: Batch = { calls: [{ call_id: '', name, arguments: args }], mode: 'sync', waitMs, queue, session, onDisconnect, callbackUrl: undefined, maxOutputChars }
    let made: string | undefined
    const onJobs = (ids: readonly string[]): void => {
      [made] = ids
      caller.onJobs?.(ids)
    }
    const mayHaveRun = this.#maxAttempts(name) > 1
    let answer: CallAnswer
    try {
      answer = required((await this.#batches.invoke(batch, { ...caller, readOutput, onJobs }))[0], 'an answer').answer
    } catch (error) {
      if (caller.idempotencyKey !== undefined || (made === undefined && hasNoJob(error))) throw error
      return mayExist(error, made)
    }
    const { jobId } = answer
    switch (answer.kind) {
      case 'succeeded': {
        const { files: { files } = {} } = answer
        return { kind: 'output', jobId, ...required(output, 'the output of a call'), ...(files && { files }) }
      }
      case 'failed': return { kind: 'failed', jobId, error: answer.error, mayHaveRun: mayHaveRun && jobId !== undefined }
      case 'pending': return { kind: 'pending', jobId: answer.jobId, ...pendingCode(answer.error), message: answer.message }
      case 'accepted': throw new Error('A call that is waited for was only started')
    }
  }
}

function pendingCode (error: CallError): Pick<Extract<ToolAnswer, { kind: 'pending' }>, 'code' | 'question'> {
  if (error.code === 'HELD') return { code: 'HELD' }
  if (error.code !== 'INPUT_REQUIRED') return { code: 'TIMEOUT' }
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- As the worker has told it.
  return { code: 'INPUT_REQUIRED', question: (error.details as { question: QuestionView }).question }
}

/** The same with the output as a text, for who reads it. */
export function withText (answer: ToolAnswer): ToolAnswer<string> {
  return answer.kind === 'output' ? { ...answer, json: Buffer.concat(answer.json).toString() } : answer
}

/** Refusals, and Redis that couldn't be asked, come before the job; what isn't foreseen may come at any time. */
function hasNoJob (error: unknown): boolean {
  return error instanceof HttpError || (error instanceof RedisUnavailableError && !(error instanceof JobsUnknownError))
}

/** A client repeats a 5xx by itself. Without an `Idempotency-Key` that would run the tool again. */
function mayExist (cause: unknown, jobId: string | undefined): FailedCall {
  const message = cause instanceof RedisUnavailableError ? cause.message : 'The service met a fault; its log has it under the request id'
  const error: CallError = { code: 'INTERNAL', message, details: { may_exist: true } }
  return { kind: 'failed', jobId, error, mayHaveRun: true, cause }
}
