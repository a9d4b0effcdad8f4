import { around, limits, type Batch, type CallResult, type InvokeBatchResponse, type Settlement } from '@toolyard/contract'
import type { CompletionWaiter, JobCanceller, JobReader, OutputStore } from '@toolyard/queue'
import { disconnected } from '../../plugins/abandoned.ts'
import type { JobTypes } from '../../catalog/job-types.ts'
import type { Principal } from '../../access/principal.ts'
import type { SessionAccess } from '../../access/session-access.ts'
import type { RequestOrigin } from '../../plugins/request-trace.ts'
import type { CallMetrics } from '@toolyard/runtime'
import type { Tracer } from '@toolyard/runtime/traces'
import { comeBackHint, type ToolCatalog } from '../../catalog/tool-catalog.ts'
import { BatchAnswers, type AnswerListener } from './batch-answers.ts'
import { CallTraces, withOrigin } from '../call-traces.ts'
import { accepted, failed, held as heldAnswer, pending, settled, type CallAnswer, type JobReading, type ReadLog, type ReadOutput } from './call-answer.ts'
import type { CallbackAccess } from '../callback-access.ts'
import { planCalls, type Call, type CallPlan } from './call-plan.ts'
import type { Admitted, JobAdmission, Reservation } from '../job-admission.ts'
import { idsOf, pairs, settlementOf, withoutCall, type Pair } from './planned-calls.ts'
import type { Asker, JobTools } from './job-tools.ts'
import { NearTools } from '../near-tools.ts'
import { readForModel } from './read-for-model.ts'
import { idempotentRequest } from '../idempotency.ts'

export interface BatchInvokerDeps {
  catalog: ToolCatalog
  jobTypes: JobTypes
  admission: JobAdmission
  jobTools: JobTools
  waiter: CompletionWaiter
  jobs: Pick<JobReader, 'isHeld'>
  canceller: JobCanceller
  outputs: OutputStore
  metrics: CallMetrics
  keyPartOf: (principal: Principal) => string
  checkCallback: CallbackAccess
  checkSession: SessionAccess
  tracer?: Tracer | undefined
}

/** Who sends a batch, and how. */
export interface Caller {
  principal: Principal
  idempotencyKey: string | undefined
  /** What the jobs say of the request that they come from. */
  origin?: RequestOrigin | undefined
  /** Ends the waiting: the client went away, or the process stops. */
  abandoned: AbortSignal
  /** Gets a sync batch's answers one by one, and all of them before the batch is answered. */
  listener?: AnswerListener
  /** Gets the ids of the jobs of a sync batch as soon as they are made. */
  onJobs?: (jobIds: readonly string[]) => void
  /** Reads the output of a call that succeeded; without it the answer has it as models read it. */
  readOutput?: ReadOutput
  /** Reads the log of a call that failed; without it the answer has none. */
  readLog?: ReadLog
  /** Gets another job that a call waits for. */
  onFound?: Asker['onFound']
}

/** Runs batches of calls: one answer per call, in request order. */
export class BatchInvoker {
  readonly #deps: BatchInvokerDeps

  constructor (deps: BatchInvokerDeps) {
    this.#deps = deps
  }

  /**
   * Makes a job of each call that can run and, in sync mode, waits for them. A batch that is
   * repeated with its `Idempotency-Key` gets the answers of the same jobs; mode and waiting may differ.
   *
   * @throws RedisUnavailableError when jobs can't be made; calls that fail without Redis alone don't need it.
   *   HttpError `IDEMPOTENCY_CONFLICT`, `VALIDATION_ERROR` for a `callback_url` that will not be called, and what
   `SessionAccess` says.
   */
  async invoke (batch: Batch, caller: Caller): Promise<InvokeBatchResponse> {
    const traces = new CallTraces(this.#deps.tracer, caller.origin)
    const at = performance.now()
    const plans = (await this.plan(batch, caller.principal)).map((plan, index): CallPlan => {
      const { call: { call_id: callId, name } } = plan
      const origin = traces.begin(index, { callId, name, at, ...('error' in plan ? { error: plan.error } : {}) })
      return 'job' in plan ? { ...plan, job: withOrigin(plan.job, origin) } : plan
    })
    try {
      return await this.#admit(batch, plans, caller, traces)
    } catch (error) {
      traces.failed(error)
      throw error
    }
  }

  /** What `invoke` would do with each call. @throws HttpError as `invoke` does before it makes jobs */
  async plan (batch: Batch, principal: Principal): Promise<CallPlan[]> {
    const { catalog, jobTypes, admission, waiter } = this.#deps
    this.#deps.checkCallback(batch.callbackUrl)
    await this.#deps.checkSession(batch.session, principal)
    const replyTo = batch.mode === 'sync' ? waiter.processId : undefined
    const context = {
      registry: catalog.registry,
      principal,
      queue: batch.queue,
      session: batch.session,
      conversation: batch.conversation,
      keyPart: this.#deps.keyPartOf(principal),
      jobTypes,
      newId: () => admission.newId(),
      replyTo,
      callbackUrl: batch.callbackUrl,
      nearTools: new NearTools(() => catalog.publication(principal).names)
    }
    return await planCalls(batch.calls, context)
  }

  async #admit (batch: Batch, plans: readonly CallPlan[], caller: Caller, traces: CallTraces): Promise<InvokeBatchResponse> {
    const { catalog, admission, metrics } = this.#deps
    const { principal } = caller
    const idempotent = await idempotentRequest(caller.idempotencyKey, principal, requestOf(batch))
    const reservation = permitted(await admission.reserve(batch.queue, plans.map(withoutCall), idempotent), plans)
    const answer = batch.mode === 'sync' ? await this.#sync(batch, plans, reservation, caller, traces) : await this.#async(batch, plans, reservation, caller)
    for (const [index, result] of answer.results.entries()) {
      traces.answered(index, result)
      metrics.answered(catalog.registry.get(result.name) === undefined ? undefined : result.name, outcomeOf(result))
    }
    return answer
  }

  async #async (batch: Batch, plans: readonly CallPlan[], reservation: Reservation, caller: Caller): Promise<InvokeBatchResponse> {
    const admitted = await this.#deps.admission.admit(reservation)
    const asker = this.#asker(batch, caller)
    const held = await this.#heldOf(batch.queue, plans, reservation)
    const results = pairs(plans, admitted).map(async ([call, entry], index) => {
      if ('ask' in entry) return (await this.#deps.jobTools.answer(call, entry.ask, { ...asker, waitMs: 0 })).result
      if ('job' in entry && held.has(entry.job.id)) return heldAnswer(call, entry.job.id, plans[index]?.hold?.reason, asker.hint).result
      return 'job' in entry ? accepted(call, entry.job.id, entry.job.type) : failed(call, entry.error).result
    })
    return around({ ok: true, results: around(await Promise.all(results)), tool_messages: [], mode: 'async' })
  }

  async #sync (
    batch: Batch, plans: readonly CallPlan[], reservation: Reservation, caller: Caller, traces: CallTraces
  ): Promise<InvokeBatchResponse> {
    const deadline = performance.now() + batch.waitMs
    const { abandoned, listener, onJobs } = caller
    const asker = this.#asker(batch, caller)
    const collected = new BatchAnswers(listener)
    const answer = async (index: number, [call, entry]: Pair, settlement?: Settlement): Promise<CallAnswer> => (
      await collected.answer(index, async () => {
        const answered = 'ask' in entry
          ? await this.#deps.jobTools.answer(call, entry.ask, { ...asker, waitMs: deadline - performance.now() })
          : 'job' in entry && held.has(entry.job.id)
            ? heldAnswer(call, entry.job.id, plans[index]?.hold?.reason, asker.hint)
            : await this.#answer(batch.queue, call, entry, settlement, asker)
        traces.answered(index, answered.result)
        return answered
      })
    )
    const held = await this.#heldOf(batch.queue, plans, reservation)
    const waiting = new Map(pairs(plans, reservation.entries).flatMap((pair, index) => (
      'job' in pair[1] && !held.has(pair[1].job.id) ? [[pair[1].job.id, { index, pair }]] : []
    )))
    const expectation = this.#deps.waiter.expect(batch.queue, [...waiting.keys()], (id, settlement) => {
      const call = waiting.get(id)
      if (call !== undefined) void answer(call.index, call.pair, settlement)
    })
    try {
      const admitted = await this.#deps.admission.admit(reservation)
      expectation.arm(idsOf(admitted).filter(id => !held.has(id)), reservation.repeated)
      onJobs?.(idsOf(admitted))
      collected.start()
      const answering = pairs(plans, admitted)
      const asked = answering.map(async (pair, index) => { if (!('job' in pair[1]) || held.has(pair[1].job.id)) await answer(index, pair) })
      const [outcome] = await Promise.all([expectation.settle(deadline - performance.now(), abandoned), ...asked])
      if (batch.onDisconnect === 'cancel' && abandoned.reason === disconnected) await this.#cancel(batch.queue, admitted, outcome)
      const answers = await Promise.all(answering.map((pair, index) => answer(index, pair, settlementOf(pair[1], outcome))))
      return around({ ok: true, results: around(answers.map(({ result }) => result)), tool_messages: answers.map(({ message }) => message), mode: 'sync' })
    } finally {
      expectation.release()
    }
  }

  /** The jobs that nobody has approved: of an earlier request, some may go on by now. */
  async #heldOf (queue: string, plans: readonly CallPlan[], { entries, repeated }: Reservation): Promise<ReadonlySet<string>> {
    const ids = entries.flatMap((entry, index) => 'job' in entry && plans[index]?.hold !== undefined ? [entry.job.id] : [])
    if (!repeated) return new Set(ids)
    const held = await Promise.all(ids.map(async id => await this.#deps.jobs.isHeld(queue, id) ? [id] : []))
    return new Set(held.flat())
  }

  #asker (
    { session, maxOutputChars }: Batch, { principal, abandoned, readOutput, readLog, onFound }: Caller
  ): Omit<Asker, 'waitMs'> {
    const { catalog, outputs } = this.#deps
    const publication = catalog.publication(principal)
    return {
      principal,
      session,
      abandoned,
      read: readOutput ?? readForModel(outputs, maxOutputChars, publication),
      room: maxOutputChars ?? (readOutput === undefined ? limits.outputChars : limits.maxOutputChars.max),
      hint: comeBackHint(publication),
      readLog,
      onFound
    }
  }

  async #cancel (queue: string, admitted: readonly Admitted[], ended: ReadonlyMap<string, Settlement>): Promise<void> {
    const unsettled = idsOf(admitted).filter(id => !ended.has(id))
    await Promise.all(unsettled.map(id => this.#deps.canceller.cancel(queue, id)))
  }

  /** Without a settlement the call goes on. */
  async #answer (
    queue: string, call: Call, entry: Admitted, settlement: Settlement | undefined, reading: JobReading
  ): Promise<CallAnswer> {
    if ('error' in entry) return failed(call, entry.error)
    const { id } = entry.job
    if (settlement === undefined) return pending(call, id, `Tool '${call.name}' goes on as job ${id}${reading.hint}`)
    return await settled(call, queue, id, settlement, reading)
  }
}

/** What makes it another request with the same key. */
function requestOf ({ calls, queue, callbackUrl, session, conversation }: Batch): unknown[] {
  return ['batch', calls, queue, callbackUrl, ...session === undefined ? [] : [session], ...conversation === undefined ? [] : [{ conversation }]]
}

/** What the key may not do now, it may not do by an earlier request either: those calls get their refusal, and keep their jobs. */
function permitted (reservation: Reservation, plans: readonly CallPlan[]): Reservation {
  const entries = reservation.entries.map((entry, index) => {
    const plan = plans[index]
    if (plan === undefined || !('error' in plan) || plan.error.code !== 'FORBIDDEN') return entry
    return { error: plan.error, ...('job' in entry ? { id: entry.job.id } : {}) }
  })
  return { ...reservation, entries }
}

function outcomeOf (result: CallResult): string {
  if (result.pending === true) return 'pending'
  if (result.ok) return result.job_type === undefined ? 'ok' : 'accepted'
  return result.error?.code ?? ''
}
