import type { JobOrigin } from '@toolyard/contract'
import { errorCode, limits } from '@toolyard/contract/terms'
import type { NewJob } from '@toolyard/queue'
import type { Span, Tracer } from '@toolyard/runtime/traces'
import type { RequestOrigin } from '../plugins/request-trace.ts'

interface PlannedCall {
  callId: string
  /** The tool, or the job type. */
  name: string
  /** Why it becomes no job. */
  error?: { code: string }
  /** When its planning began, by `performance.now()`. */
  at: number
}

/** What of an answer is traced. */
interface Answered {
  ok: boolean
  pending?: boolean
  error?: { code: string }
  job_id?: string
}

export function withOrigin (job: NewJob, origin: JobOrigin | undefined): NewJob {
  return origin === undefined ? job : { ...job, data: { ...job.data, origin } }
}

/**
 * One span for each call of a request, from its planning until it is answered. A call that becomes no job has the name
 * that the GenAI conventions give to the execution of a tool; for all others the worker makes that span.
 */
export class CallTraces {
  readonly #tracer: Tracer | undefined
  readonly #origin: RequestOrigin | undefined
  readonly #open = new Map<number, Span>()
  /** Those without an answer yet, with the `call_id` that is shown. */
  readonly #calls = new Map<number, string | undefined>()

  constructor (tracer: Tracer | undefined, origin: RequestOrigin | undefined) {
    this.#tracer = tracer
    this.#origin = origin
  }

  /** Begins the span of a call; returns what its job says of where it comes from. */
  begin (index: number, { callId, name, error, at }: PlannedCall): JobOrigin | undefined {
    const origin = this.#origin
    if (origin === undefined) return undefined
    const call = callId === '' ? undefined : callId.slice(0, limits.callIdLength)
    this.#calls.set(index, call)
    const span = this.#tracer?.start(`${error === undefined ? 'call' : 'execute_tool'} ${error?.code === 'UNKNOWN_TOOL' ? '' : name}`.trim(), {
      parent: origin.context,
      at,
      attributes: {
        ...(error === undefined ? {} : { 'gen_ai.operation.name': 'execute_tool' }),
        'gen_ai.tool.name': name,
        ...(call === undefined ? {} : { 'gen_ai.tool.call.id': call })
      }
    })
    if (span !== undefined) this.#open.set(index, span)
    return { request: origin.id, ...(call === undefined ? {} : { call }), ...(span?.context ?? origin.context) }
  }

  /** Ends the span of a call with its answer; the first one counts. */
  answered (index: number, { ok, pending, error, job_id: jobId }: Answered): void {
    if (!this.#calls.has(index)) return
    const callId = this.#calls.get(index)
    this.#calls.delete(index)
    if (jobId !== undefined) this.#origin?.calls.push({ jobId, ...(callId === undefined ? {} : { callId }) })
    const span = this.#open.get(index)
    if (span === undefined) return
    if (jobId !== undefined) span.set({ 'toolyard.job.id': jobId })
    if (!ok && pending !== true) span.fail(error?.code ?? 'INTERNAL')
    else if (pending === true) span.set({ 'toolyard.pending': true })
    this.#end(index, span)
  }

  /** Ends what gets no answer, since the request failed as a whole. */
  failed (error: unknown): void {
    const code = errorCode(error)
    for (const [index, span] of this.#open) {
      span.fail(code ?? 'INTERNAL')
      this.#end(index, span)
    }
  }

  #end (index: number, span: Span): void {
    this.#open.delete(index)
    span.end()
  }
}
