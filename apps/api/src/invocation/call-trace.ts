import type { JobOrigin } from '@toolyard/contract'
import { errorCode, limits } from '@toolyard/contract/terms'
import type { Span, Tracer } from '@toolyard/runtime/traces'
import type { RequestOrigin } from '../plugins/request-trace.ts'

interface TracedCall {
  callId: string
  /** The tool, or the job type. */
  name: string
  /** Why it becomes no job. */
  error: { code: string } | undefined
  /** When its planning began, by `performance.now()`. */
  at: number
}

type Answered =
  | { kind: 'succeeded' | 'accepted' | 'pending', jobId: string | undefined }
  | { kind: 'failed', jobId: string | undefined, error: { code: string } }

/**
 * One span for each call of a request, from its planning until it is answered. A call that becomes no job has the name
 * that the GenAI conventions give to the execution of a tool; for all others the worker makes that span.
 */
export class CallTrace {
  readonly origin: JobOrigin
  readonly #request: RequestOrigin
  readonly #span: Span | undefined
  #isEnded = false

  constructor (tracer: Tracer | undefined, request: RequestOrigin, { callId, name, error, at }: TracedCall) {
    const call = callId === '' ? undefined : callId.slice(0, limits.callIdLength)
    this.#request = request
    this.#span = tracer?.start(`${error === undefined ? 'call' : 'execute_tool'} ${error?.code === 'UNKNOWN_TOOL' ? '' : name}`.trim(), {
      parent: request.context,
      at,
      attributes: {
        ...(error === undefined ? {} : { 'gen_ai.operation.name': 'execute_tool' }),
        'gen_ai.tool.name': name,
        ...(call === undefined ? {} : { 'gen_ai.tool.call.id': call })
      }
    })
    this.origin = { request: request.id, ...(call === undefined ? {} : { call }), ...(this.#span?.context ?? request.context) }
  }

  /** Ends the span with the call's answer; the first one counts. */
  answered (answer: Answered): void {
    if (this.#isEnded) return
    const { kind, jobId } = answer
    const { call } = this.origin
    if (jobId !== undefined) this.#request.calls.push({ jobId, ...(call === undefined ? {} : { callId: call }) })
    if (jobId !== undefined) this.#span?.set({ 'toolyard.job.id': jobId })
    if (kind === 'failed') this.#span?.fail(answer.error.code)
    else if (kind === 'pending') this.#span?.set({ 'toolyard.pending': true })
    this.#end()
  }

  /** Ends the span of a call that gets no answer, since the request failed as a whole. */
  failed (error: unknown): void {
    if (this.#isEnded) return
    this.#span?.fail(errorCode(error) ?? 'INTERNAL')
    this.#end()
  }

  #end (): void {
    this.#isEnded = true
    this.#span?.end()
  }
}
