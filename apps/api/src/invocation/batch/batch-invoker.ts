import { limits, type Batch, type Settlement } from '@toolyard/contract'
import type { CompletionWaiter, JobCanceller, JobReader, OutputStore } from '@toolyard/queue'
import { required } from '@toolyard/store'
import { disconnected } from '../../plugins/abandoned.ts'
import type { AnswerRoom } from '../../plugins/load/unsent-answers.ts'
import type { JobTypes } from '../../catalog/job-types.ts'
import { ownerOfKey, type Principal } from '../../access/principal.ts'
import type { SessionAccess } from '../../access/session-access.ts'
import type { RequestOrigin } from '../../plugins/request-trace.ts'
import type { CallMetrics } from '@toolyard/runtime'
import type { Tracer } from '@toolyard/runtime/traces'
import { comeBackHint, type ToolCatalog } from '../../catalog/tool-catalog.ts'
import type { AnsweredCall } from './batch-response.ts'
import { CallTrace } from '../call-trace.ts'
import { accepted, failed, held, outcomeOf, pending, settled, type CallAnswer, type ReadLog, type ReadOutput } from './call-answer.ts'
import type { CallbackAccess } from '../callback-access.ts'
import { planCalls } from './call-plan.ts'
import type { JobAdmission, Reservation } from '../job-admission.ts'
import type { PlannedCall } from './planned-call.ts'
import type { Asker, JobTools } from './job-tools.ts'
import { turnOfBatch } from './job-wait.ts'
import { NearTools } from '../near-tools.ts'
import { accessOf, askerOf } from '../new-job.ts'
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

export interface AnswerListener {
  /** The jobs are made: from now on each call gets its answer. */
  started: () => void
  /** Called once for each call, in the order in which the answers are known. */
  answered: (index: number, call: AnsweredCall) => void
}

export interface Caller {
  principal: Principal
  idempotencyKey: string | undefined
  /** Named by the jobs. */
  origin?: RequestOrigin | undefined
  /** Ends the waiting: the client went away, or the process stops. */
  abandoned: AbortSignal
  /** Gets a sync batch's answers one by one, and all of them before the batch is answered. */
  listener?: AnswerListener
  /** Gets the ids of the jobs of a sync batch as soon as they are made. */
  onJobs?: (jobIds: readonly string[]) => void
  /** For the outputs of an answer that has many. */
  room?: AnswerRoom
  /** Whether the answer's messages take images. */
  showsImages?: boolean
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
   *   `SessionAccess` says.
   */
  async invoke (batch: Batch, caller: Caller): Promise<AnsweredCall[]> {
    const { catalog: { registry }, tracer, metrics } = this.#deps
    const { origin, principal } = caller
    const at = performance.now()
    const calls = await this.plan(batch, principal)
    if (origin !== undefined) for (const call of calls) trace(call, tracer, origin, at)
    try {
      const idempotent = await idempotentRequest(caller.idempotencyKey, principal, requestOf(batch))
      const reservation = await this.#deps.admission.reserve(batch.queue, calls, idempotent)
      const toApprove = calls.filter(({ hold }) => hold !== undefined)
      await Promise.all(toApprove.map(async call => { call.isHeld = await this.#isHeld(call, reservation) }))
      const answers = batch.mode === 'sync' ? await this.#sync(batch, calls, reservation, caller) : await this.#async(batch, calls, reservation, caller)
      return calls.map(({ call, trace }, index) => {
        const answer = required(answers[index], 'the answer of a call')
        trace?.answered(answer)
        metrics.answered(registry.get(call.name) === undefined ? undefined : call.name, outcomeOf(answer))
        return { call, answer }
      })
    } catch (error) {
      for (const { trace } of calls) trace?.failed(error)
      throw error
    }
  }

  /** A plan for each call, without jobs. @throws HttpError as `invoke` does before it makes jobs */
  async plan (batch: Batch, principal: Principal): Promise<PlannedCall[]> {
    const { catalog, jobTypes, admission, waiter, keyPartOf } = this.#deps
    const { queue, session, conversation, callbackUrl } = batch
    this.#deps.checkCallback(callbackUrl)
    await this.#deps.checkSession(session, principal)
    const replyTo = batch.mode === 'sync' ? waiter.processId : undefined
    return await planCalls(batch.calls, {
      registry: catalog.registry,
      queue,
      terms: {
        principal,
        access: accessOf(principal),
        keyPart: keyPartOf(principal),
        session,
        jobTypes,
        tags: ['agent-tool'],
        conversation,
        replyTo,
        callbackUrl
      },
      asks: askerOf(principal, session, conversation),
      newId: () => admission.newId(),
      nearTools: new NearTools(() => catalog.publication(principal).names)
    })
  }

  async #async (batch: Batch, calls: readonly PlannedCall[], reservation: Reservation, caller: Caller): Promise<CallAnswer[]> {
    await this.#deps.admission.admit(reservation, calls)
    const asker = this.#asker(batch, caller, 0)
    return await Promise.all(calls.map(async planned => {
      const { call, state } = planned
      return state.kind === 'made' && !planned.isHeld ? accepted(call, state.job, asker.hint) : await this.#answer(batch.queue, planned, asker)
    }))
  }

  async #sync (batch: Batch, calls: readonly PlannedCall[], reservation: Reservation, caller: Caller): Promise<CallAnswer[]> {
    const deadline = performance.now() + batch.waitMs
    const { queue } = batch
    const { abandoned, listener } = caller
    const asker = this.#asker(batch, caller, deadline)
    let start = (): void => {}
    const started = new Promise<void>(resolve => { start = resolve })
    const make = async (planned: PlannedCall, settlement?: Settlement): Promise<CallAnswer> => {
      // A job may end while others are being made.
      await started
      const answer = await this.#answer(queue, planned, asker, settlement)
      planned.trace?.answered(answer)
      listener?.answered(calls.indexOf(planned), { call: planned.call, answer })
      return answer
    }
    const waiting = new Map<string, PlannedCall>()
    for (const call of calls) if (call.jobId !== undefined && !call.isHeld) waiting.set(call.jobId, call)
    const expectation = this.#deps.waiter.expect(queue, [...waiting.keys()], (id, settlement) => {
      const call = waiting.get(id)
      if (call !== undefined) call.answering ??= make(call, settlement)
    })
    try {
      await this.#deps.admission.admit(reservation, calls)
      const made = calls.flatMap(({ jobId = [] }) => jobId)
      expectation.arm(made, reservation.repeated)
      caller.onJobs?.(made)
      listener?.started()
      start()
      const others: Array<Promise<CallAnswer>> = []
      for (const call of calls) if (call.jobId === undefined || call.isHeld) others.push(call.answering ??= make(call))
      const [outcome] = await Promise.all([expectation.settle(deadline - performance.now(), abandoned), ...others])
      if (batch.onDisconnect === 'cancel' && abandoned.reason === disconnected) await this.#cancel(queue, made.filter(id => !outcome.has(id)))
      if (outcome.size < waiting.size) await turnOfBatch(ownerOfKey(caller.principal))
      const answers: Array<Promise<CallAnswer>> = []
      for (const call of calls) answers.push(call.answering ??= make(call, outcome.get(call.jobId ?? '')))
      return await Promise.all(answers)
    } finally {
      expectation.release()
    }
  }

  /** A job of an earlier request may have been approved since. */
  async #isHeld ({ jobId }: PlannedCall, { queue, repeated }: Reservation): Promise<boolean> {
    return jobId !== undefined && (!repeated || await this.#deps.jobs.isHeld(queue, jobId))
  }

  #asker ({ session, maxOutputChars }: Batch, caller: Caller, deadline: number): Asker {
    const { principal, abandoned, room, showsImages = false, readOutput, readLog, onFound } = caller
    const { catalog, outputs } = this.#deps
    const publication = catalog.publication(principal)
    return {
      principal,
      session,
      deadline,
      abandoned,
      read: readOutput ?? readForModel(outputs, { maxOutputChars, showsImages, publication, room }),
      room: maxOutputChars ?? (readOutput === undefined ? limits.outputChars : limits.maxOutputChars.max),
      hint: comeBackHint(publication),
      readLog,
      onFound
    }
  }

  async #cancel (queue: string, ids: readonly string[]): Promise<void> {
    await Promise.all(ids.map(id => this.#deps.canceller.cancel(queue, id)))
  }

  /** The call goes on where its job has no settlement. */
  async #answer (queue: string, { call, state, hold, isHeld }: PlannedCall, asker: Asker, settlement?: Settlement): Promise<CallAnswer> {
    switch (state.kind) {
      case 'refused': return failed(state.error)
      case 'service': return await this.#deps.jobTools.answer(call, state.ask, asker)
      case 'planned':
      case 'made': {
        const { id } = state.job
        if (isHeld) return held(call, id, hold?.reason, asker.hint)
        if (settlement === undefined) return pending(id, `Tool '${call.name}' goes on as job ${id}${asker.hint}`)
        return await settled(call, queue, id, settlement, asker)
      }
    }
  }
}

/** Begins the trace of a call; its job says that it belongs there. */
function trace (planned: PlannedCall, tracer: Tracer | undefined, origin: RequestOrigin, at: number): void {
  const { call: { call_id: callId, name }, state } = planned
  planned.trace = new CallTrace(tracer, origin, { callId, name, at, error: state.kind === 'refused' ? state.error : undefined })
  if (state.kind === 'planned') state.job.data.origin = planned.trace.origin
}

/** Another value makes it another request with the same key. */
function requestOf ({ calls, queue, callbackUrl, session, conversation }: Batch): unknown[] {
  return ['batch', calls, queue, callbackUrl, ...session === undefined ? [] : [session], ...conversation === undefined ? [] : [{ conversation }]]
}
