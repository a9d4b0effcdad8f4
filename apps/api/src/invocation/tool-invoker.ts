import type { Batch, CallError, OutputCut } from '@toolyard/contract'
import { JobsUnknownError, type OutputStore } from '@toolyard/queue'
import type { BatchInvoker, Caller } from './batch-invoker.ts'

/** A call that is a request of its own. */
export interface ToolCall {
  name: string
  arguments: Record<string, unknown>
  waitMs: number
  queue: string
  /** What becomes of the job when the caller goes away; `leave` when absent. */
  onDisconnect?: Batch['onDisconnect']
}

/** What became of it. `json` is the whole output, as far as it was kept; `cut` tells of what wasn't. */
export type ToolAnswer =
  | { kind: 'output', jobId: string, json: string, cut: OutputCut | undefined }
  | { kind: 'pending', jobId: string }
  | { kind: 'failed', jobId: string | undefined, error: CallError }

/** Runs a call as a batch of one, so that the rules of batches hold for it; its output stays the text that it is stored as. */
export class ToolInvoker {
  readonly #batches: BatchInvoker
  readonly #outputs: OutputStore

  constructor (batches: BatchInvoker, outputs: OutputStore) {
    this.#batches = batches
    this.#outputs = outputs
  }

  /** @throws as `BatchInvoker.invoke` */
  async invoke ({ name, arguments: args, waitMs, queue, onDisconnect = 'leave' }: ToolCall, caller: Caller): Promise<ToolAnswer> {
    let output: { json: string, cut: OutputCut | undefined } | undefined
    const readOutput: Caller['readOutput'] = async (queue, jobId, record) => {
      const json = await this.#outputs.readJson(queue, jobId, record)
      if (json === undefined) throw new Error('The output is gone: its retention time is over')
      output = { json, cut: record.cut }
    }
    // No batch has an empty call_id: the same Idempotency-Key with a batch is another request.
    const batch: Batch = { calls: [{ call_id: '', name, arguments: args }], mode: 'sync', waitMs, queue, onDisconnect, callbackUrl: undefined }
    const { results: [result] } = await this.#batches.invoke(batch, { ...caller, readOutput }).catch((error: unknown) => {
      if (error instanceof JobsUnknownError && caller.idempotencyKey === undefined) return { results: [mayExist(error)] }
      throw error
    })
    const jobId = result?.job_id
    if (jobId !== undefined && output !== undefined) return { kind: 'output', jobId, ...output }
    if (jobId !== undefined && result?.pending === true) return { kind: 'pending', jobId }
    return { kind: 'failed', jobId, error: result?.error as CallError | undefined ?? { code: 'INTERNAL', message: 'The call was lost' } }
  }
}

/** A client repeats a 503 by itself. Without an `Idempotency-Key` that would run the tool again. */
function mayExist ({ message }: JobsUnknownError): { job_id?: string, pending?: true, error: CallError } {
  return { error: { code: 'INTERNAL', message, details: { may_exist: true } } }
}
