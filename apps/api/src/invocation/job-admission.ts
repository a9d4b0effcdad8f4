import { setImmediate as turn } from 'node:timers/promises'
import { HttpError, type CallError } from '@toolyard/contract'
import { readJsonInTurns, writeThrough } from '@toolyard/contract/terms'
import { JobGoneError, QueueFullError, QueueLimitError, type JobQueues, type NewJob, type IdempotencyStore, type IdempotentRequest } from '@toolyard/queue'
import { JobsUnknownError, RedisFullError, RedisUnavailableError } from '@toolyard/store'
import { askedAnew, type ServiceCall } from './service-call.ts'

/*
 * States of a call: planned -> made or refused, by `admit`. A repeated request begins with the states that the first one
 * came to. What the service answers by itself has one state.
 */
export type CallState =
  | { kind: 'planned', job: NewJob }
  | { kind: 'made', job: MadeJob }
  /** `id`: of the job that a repeat of the request makes, once what has refused it is over. */
  | { kind: 'refused', error: CallError, id?: string | undefined }
  | { kind: 'service', ask: ServiceCall }

type MadeJob = Pick<NewJob, 'id' | 'type'>

export interface Candidate {
  state: CallState
}

/** The ids of a request's jobs, which may not exist yet. */
export interface Reservation {
  queue: string
  idempotent?: IdempotentRequest
  repeated: boolean
}

/** A request is repeated whose job was removed: whether it ran, and how it ended, is not known any more. */
export function noLongerKept (jobId: string): HttpError {
  return new HttpError('CONFLICT', `Job ${jobId}, which this Idempotency-Key made, is no longer kept, and is not run again`, { job_id: jobId })
}

/** Makes the jobs of a request; those of a request with an `Idempotency-Key` once, however often it comes. */
export class JobAdmission {
  readonly #queues: JobQueues
  readonly #idempotency: IdempotencyStore

  constructor (queues: JobQueues, idempotency: IdempotencyStore) {
    this.#queues = queues
    this.#idempotency = idempotency
  }

  /** The id of a job that is about to be made. */
  newId (): string {
    return this.#queues.newId()
  }

  /**
   * Settles the ids of a request's jobs: its own, or those of an earlier request with its key. Without a job to make,
   * it is only looked for an earlier request.
   *
   * @throws HttpError `IDEMPOTENCY_CONFLICT`; RedisUnavailableError.
   */
  async reserve (queue: string, calls: readonly Candidate[], idempotent: IdempotentRequest | undefined): Promise<Reservation> {
    if (idempotent === undefined) return { queue, repeated: false }
    const makesJobs = calls.some(({ state }) => state.kind === 'planned')
    const taken = await this.#idempotency.take(idempotent, makesJobs ? stored(calls) : '')
    if (taken === undefined) return { queue, repeated: false, ...(makesJobs ? { idempotent } : {}) }
    if (taken.request !== idempotent.request) throw new HttpError('IDEMPOTENCY_CONFLICT', 'Idempotency-Key reused with different request')
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- `stored` has written it.
    const before = await readJsonInTurns(taken.text, turn) as readonly StoredCall[]
    for (const [index, call] of calls.entries()) call.state = repeated(before[index], call.state, taken.confirmed)
    return { queue, idempotent, repeated: true }
  }

  /**
   * Makes the jobs in one round trip; a call whose job a limit or Redis refused gets the error.
   *
   * @throws RedisUnavailableError, after which the same request with the same key makes no second job; HttpError
   *   `CONFLICT` where an earlier request with this key made a job that is no longer kept.
   */
  async admit ({ queue, idempotent }: Reservation, calls: readonly Candidate[]): Promise<void> {
    const made: string[] = []
    const planned: NewJob[] = []
    for (const { state } of calls) {
      if (state.kind === 'made') made.push(state.job.id)
      else if (state.kind === 'planned') planned.push(state.job)
    }
    const [gone] = await this.#queues.gone(queue, made)
    if (gone !== undefined) throw noLongerKept(gone)
    if (planned.length === 0) return
    const refused = await this.#refused(queue, planned, idempotent !== undefined).catch(async (error: unknown) => {
      const madeNone = error instanceof RedisUnavailableError && !(error instanceof JobsUnknownError)
      if (madeNone && idempotent !== undefined) await this.#release(idempotent, calls)
      throw error
    })
    for (const call of calls) {
      if (call.state.kind !== 'planned') continue
      const { id, type } = call.state.job
      const error = refused.get(id)
      // Without what the job carries: the call may wait for long.
      call.state = error === undefined ? { kind: 'made', job: { id, type } } : { kind: 'refused', error, id }
    }
    if (idempotent !== undefined) await this.#conclude(idempotent, calls)
  }

  async #refused (queue: string, jobs: readonly NewJob[], idempotent: boolean): Promise<Map<string, CallError>> {
    try {
      const refused = await this.#queues.add(queue, jobs, idempotent)
      for (const [id, error] of refused) if (error instanceof JobGoneError) throw noLongerKept(id)
      return new Map([...refused].map(([id, error]) => [id, refusalOf(error)]))
    } catch (error) {
      if (!(error instanceof QueueLimitError)) throw error
      return new Map(jobs.map(job => [job.id, { code: 'QUEUE_FULL', message: error.message }]))
    }
  }

  /** The jobs exist, so a failure here is nobody's error: a key that stays taken makes the same jobs again. */
  async #conclude (idempotent: IdempotentRequest, calls: readonly Candidate[]): Promise<void> {
    const made = calls.some(({ state }) => state.kind === 'made')
    if (made) await this.#idempotency.confirm(idempotent, stored(calls)).catch(() => {})
    else await this.#release(idempotent, calls)
  }

  async #release (idempotent: IdempotentRequest, calls: readonly Candidate[]): Promise<void> {
    const ids = calls.map(({ state }) => state.kind === 'planned' ? { id: state.job.id } : storedCall(state))
    await this.#idempotency.release(idempotent, writeThrough(ids)).catch(() => {})
  }
}

/** Details of a refusal that is not the caller's doing: Redis takes nothing in. */
export const redisFull = { redis: 'full' } as const

/** An `Idempotency-Key` remembers it of a call. */
interface StoredCall {
  /** Whole until all jobs of the request are made. */
  job?: MadeJob
  error?: CallError
  id?: string
}

/** With the numbers and the order of the arguments, as they were read. */
function stored (calls: readonly Candidate[]): string {
  return writeThrough(calls.map(({ state }) => storedCall(state)))
}

function storedCall (state: CallState): StoredCall {
  switch (state.kind) {
    case 'planned': return { job: state.job }
    case 'made': return { job: { id: state.job.id, type: state.job.type } }
    case 'refused': return { error: state.error, ...(state.id === undefined ? {} : { id: state.id }) }
    case 'service': return { error: askedAnew }
  }
}

/**
 * A repeat's plan for a call of an earlier request. Its job has the same id, however many repeats there are. What the
 * key may not do now, it may not do by an earlier request either: such a call gets its refusal, and keeps its job.
 */
function repeated (before: StoredCall | undefined, now: CallState, isConfirmed: boolean): CallState {
  if ((now.kind !== 'planned' && now.kind !== 'refused') || before === undefined) return now
  const { job, error, id = job?.id } = before
  if (now.kind === 'refused' && now.error.code === 'FORBIDDEN') return { ...now, id }
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- Whole, as `StoredCall` says.
  if (job !== undefined) return isConfirmed ? { kind: 'made', job } : { kind: 'planned', job: job as NewJob }
  if (!isConfirmed || id === undefined) return error === undefined ? now : { kind: 'refused', error, id }
  if (now.kind === 'refused') return { ...now, id }
  return { kind: 'planned', job: { ...now.job, id } }
}

function refusalOf (error: Error): CallError {
  if (error instanceof QueueFullError) return { code: 'QUEUE_FULL', message: error.message }
  const message = `The job could not be stored: ${error.message}`
  return error instanceof RedisFullError ? { code: 'QUEUE_FULL', message, details: redisFull } : { code: 'INTERNAL', message }
}
