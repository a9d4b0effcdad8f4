import type { Batch, CallError, InvokeBatchResponse, Settlement } from '@toolyard/contract'
import { QueueLimitError, RedisUnavailableError, type CompletionWaiter, type JobQueues, type NewJob, type OutputStore } from '@toolyard/queue'
import type { Principal } from '../plugins/auth.ts'
import type { ToolCatalog } from '../tool-catalog.ts'
import { accepted, failed, pending, succeeded, type CallAnswer } from './call-answer.ts'
import { planCall, type CallPlan } from './call-plan.ts'

/** What a batch is run with. */
export interface BatchInvokerDeps {
  catalog: ToolCatalog
  queues: JobQueues
  waiter: CompletionWaiter
  outputs: OutputStore
}

/** Runs batches of calls: one answer per call, in request order. */
export class BatchInvoker {
  readonly #deps: BatchInvokerDeps
  readonly #toolTimeoutSec: number

  constructor (deps: BatchInvokerDeps, toolTimeoutSec: number) {
    this.#deps = deps
    this.#toolTimeoutSec = toolTimeoutSec
  }

  /**
   * Makes a job of each call that can run and, in sync mode, waits for them (R13, R29, R36 to R42).
   *
   * @param abandoned aborts the waiting, not the jobs: the client went away, or the process stops.
   * @throws RedisUnavailableError when jobs can't be made; calls that fail without Redis alone don't need it.
   */
  async invoke (batch: Batch, principal: Principal, abandoned: AbortSignal): Promise<InvokeBatchResponse> {
    const replyTo = batch.mode === 'sync' ? this.#deps.waiter.processId : undefined
    const context = { registry: this.#deps.catalog.registry, principal, queue: batch.queue, toolTimeoutSec: this.#toolTimeoutSec, replyTo }
    const plans = batch.calls.map(call => planCall(call, context))
    return batch.mode === 'sync' ? await this.#sync(batch, plans, abandoned) : await this.#async(batch, plans)
  }

  async #async (batch: Batch, plans: readonly CallPlan[]): Promise<InvokeBatchResponse> {
    const made = await this.#add(batch.queue, plans)
    const results = made.map(plan => 'job' in plan ? accepted(plan.call, plan.job.id, plan.job.type) : failed(plan.call, plan.error).result)
    return { ok: true, results, tool_messages: [], mode: 'async' }
  }

  async #sync (batch: Batch, plans: readonly CallPlan[], abandoned: AbortSignal): Promise<InvokeBatchResponse> {
    const deadline = performance.now() + batch.waitMs
    const expectation = this.#deps.waiter.expect(batch.queue, jobsOf(plans).map(job => job.id))
    try {
      const made = await this.#add(batch.queue, plans)
      expectation.arm(jobsOf(made).map(job => job.id))
      const settled = await expectation.settle(deadline - performance.now(), abandoned)
      const answers = await Promise.all(made.map(plan => this.#answer(batch.queue, plan, settled)))
      return { ok: true, results: answers.map(answer => answer.result), tool_messages: answers.map(answer => answer.message), mode: 'sync' }
    } finally {
      expectation.release()
    }
  }

  /** Makes the jobs; a plan whose job a limit or Redis refused comes back with the error instead. */
  async #add (queue: string, plans: readonly CallPlan[]): Promise<CallPlan[]> {
    const jobs = jobsOf(plans)
    const refused = jobs.length === 0 ? new Map<string, CallError>() : await this.#refused(queue, jobs)
    return plans.map(plan => {
      const error = 'job' in plan ? refused.get(plan.job.id) : undefined
      return error === undefined ? plan : { call: plan.call, error }
    })
  }

  async #refused (queue: string, jobs: readonly NewJob[]): Promise<Map<string, CallError>> {
    try {
      const refused = await this.#deps.queues.add(queue, jobs)
      return new Map([...refused].map(([id, error]) => [id, { code: 'INTERNAL', message: `The job could not be stored: ${error.message}` }]))
    } catch (error) {
      if (!(error instanceof QueueLimitError)) throw error
      return new Map(jobs.map(job => [job.id, { code: 'QUEUE_FULL', message: error.message }]))
    }
  }

  async #answer (queue: string, plan: CallPlan, settled: ReadonlyMap<string, Settlement>): Promise<CallAnswer> {
    if ('error' in plan) return failed(plan.call, plan.error)
    const settlement = settled.get(plan.job.id)
    if (settlement === undefined) return pending(plan.call, plan.job.id)
    if (!settlement.ok) return failed(plan.call, settlement.error)
    try {
      return succeeded(plan.call, await this.#deps.outputs.readForModel(queue, plan.job.id, settlement.output))
    } catch (cause) {
      // The output is safe beside the job and can be read when Redis is back.
      if (cause instanceof RedisUnavailableError) return pending(plan.call, plan.job.id)
      return failed(plan.call, { code: 'INTERNAL', message: (cause as Error).message })
    }
  }
}

function jobsOf (plans: readonly CallPlan[]): NewJob[] {
  return plans.flatMap(plan => 'job' in plan ? [plan.job] : [])
}
