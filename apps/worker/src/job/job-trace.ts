import { readTraceContext, traceIdsOf, traceVariables, type TraceContext } from '@toolyard/contract/terms'
import type { JobOrigin } from '@toolyard/contract'
import type { Sandbox } from '@toolyard/executors'
import type { RunTrace } from '@toolyard/sandbox'
import type { HandlerResult, TakenJob } from '@toolyard/queue'
import type { Span, Tracer } from '@toolyard/runtime/traces'

/** Stages of a run that are over. */
type Stage = Parameters<NonNullable<RunTrace['stage']>>

/**
 * The spans of one run of a job: `job NAME` from when the job was due until its end; below it `wait` in the queue, `take`
 * until the tool may run, and `execute_tool NAME` with `sandbox` and `run` of each process. Nothing is traced of a job
 * that is put off before its tool runs.
 */
export class JobTrace {
  readonly #tracer: Tracer
  readonly #job: TakenJob
  #whole: Span | undefined
  #execution: Span | undefined

  constructor (tracer: Tracer, job: TakenJob) {
    this.#tracer = tracer
    this.#job = job
  }

  begin (sandbox: ReturnType<Sandbox['stateOf']>): TraceContext {
    const execution = this.#startExecution(performance.now())
    if (sandbox !== undefined) execution.set({ 'toolyard.sandbox': sandbox.level })
    return execution.context
  }

  /** See `RunTrace`. */
  readonly stage = (...[name, from, to]: Stage): void => {
    if (this.#execution !== undefined) this.#tracer.start(name, { parent: this.#execution.context, at: from }).end(to)
  }

  end (result: HandlerResult): void {
    const code = result.kind === 'failed' ? result.error.code : undefined
    // A call that was refused before it ran failed nevertheless.
    if (code !== undefined && this.#execution === undefined) this.#startExecution(performance.now())
    for (const span of [this.#execution, this.#whole]) {
      if (code !== undefined) span?.fail(code)
      span?.end()
    }
  }

  #startExecution (now: number): Span {
    const { id, queue, type, attempt, takenAt, waitedMs = 0, data: { tool, origin } } = this.#job
    const dueAt = takenAt - waitedMs
    const whole = this.#tracer.start(`job ${tool}`, {
      parent: origin === undefined ? undefined : readTraceContext(origin.traceparent, origin.tracestate),
      kind: 'consumer',
      at: dueAt,
      attributes: {
        'toolyard.job.id': id,
        'toolyard.job.type': type,
        'toolyard.queue': queue,
        'toolyard.attempt': attempt + 1,
        ...(origin === undefined ? {} : { 'toolyard.request.id': origin.request })
      }
    })
    const parent = whole.context
    if (waitedMs > 0) this.#tracer.start('wait', { parent, at: dueAt }).end(takenAt)
    this.#tracer.start('take', { parent, at: takenAt }).end(now)
    const execution = this.#tracer.start(`execute_tool ${tool}`, {
      parent,
      at: now,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': tool,
        'gen_ai.tool.type': 'function',
        ...(origin?.call === undefined ? {} : { 'gen_ai.tool.call.id': origin.call }),
        'toolyard.job.id': id
      }
    })
    this.#whole = whole
    this.#execution = execution
    return execution
  }
}

/** Where the run of a job belongs without traces of its own: where the caller's does. */
export function originContext ({ data: { origin } }: TakenJob): TraceContext | undefined {
  return origin === undefined ? undefined : readTraceContext(origin.traceparent, origin.tracestate)
}

/** An executor's part of a trace. */
export function runTrace (context: TraceContext | undefined, stage: RunTrace['stage']): { trace?: RunTrace } {
  if (context === undefined) return {}
  return { trace: { variables: traceVariables(context), ...(stage === undefined ? {} : { stage }) } }
}

/** The origin of a job in lines of the log. */
export function originIds (origin: JobOrigin | undefined): { reqId?: string, callId?: string, trace_id?: string } {
  if (origin === undefined) return {}
  const context = readTraceContext(origin.traceparent)
  return {
    reqId: origin.request,
    ...(origin.call === undefined ? {} : { callId: origin.call }),
    ...(context === undefined ? {} : { trace_id: traceIdsOf(context).traceId })
  }
}
