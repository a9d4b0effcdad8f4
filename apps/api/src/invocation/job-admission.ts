import { storedJson, HttpError, type CallError } from '@toolyard/contract'
import { JobGoneError, QueueFullError, QueueLimitError, type JobQueues, type NewJob, type IdempotencyStore, type IdempotentRequest } from '@toolyard/queue'
import { RedisFullError } from '@toolyard/store'

/** A job to make, or why there is none. */
export type Planned = { job: NewJob } | Refused
/** A job that exists, or why there is none. */
export type Admitted = { job: Pick<NewJob, 'id' | 'type'> } | Refused
/** `id`: of the job that a repeat of the request makes, once what has refused it is over. */
interface Refused { error: CallError, id?: string }
type Made = Extract<Admitted, { job: unknown }> & { isMade: true }

/** Jobs whose ids are settled and that may not exist yet, but for those that an earlier request has made. */
export interface Reservation {
  queue: string
  idempotent?: IdempotentRequest
  repeated: boolean
  entries: ReadonlyArray<Planned | Made>
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
  async reserve (queue: string, planned: readonly Planned[], idempotent: IdempotentRequest | undefined): Promise<Reservation> {
    if (idempotent === undefined) return { queue, entries: planned, repeated: false }
    const makesJobs = planned.some(plan => 'job' in plan)
    const taken = await this.#idempotency.take(idempotent, makesJobs ? JSON.stringify(planned) : '')
    if (taken === undefined) return { queue, entries: planned, repeated: false, ...(makesJobs ? { idempotent } : {}) }
    if (taken.request !== idempotent.request) throw new HttpError('IDEMPOTENCY_CONFLICT', 'Idempotency-Key reused with different request')
    const entries = taken.confirmed
      ? storedJson<readonly Admitted[]>(taken.text).map((entry, index) => repeatOf(entry, planned[index]))
      : storedJson<readonly Planned[]>(taken.text)
    return { queue, entries, idempotent, repeated: true }
  }

  /**
   * Makes the jobs in one round trip; a job that a limit or Redis refused comes back as its error.
   *
   * @throws RedisUnavailableError, after which the same request with the same key makes no second job; HttpError
   *   `CONFLICT` where an earlier request with this key made a job that is no longer kept.
   */
  async admit ({ queue, entries, idempotent }: Reservation): Promise<readonly Admitted[]> {
    const [gone] = await this.#queues.gone(queue, entries.flatMap(entry => 'isMade' in entry ? [entry.job.id] : []))
    if (gone !== undefined) throw noLongerKept(gone)
    const jobs = entries.flatMap(entry => 'job' in entry && !('isMade' in entry) ? [entry.job] : [])
    if (jobs.length === 0) return entries
    const refused = await this.#refused(queue, jobs, idempotent !== undefined)
    const admitted = entries.map((entry): Admitted => {
      if ('error' in entry) return entry
      const { id, type } = entry.job
      const error = refused.get(id)
      return error === undefined ? { job: { id, type } } : { error, id }
    })
    if (idempotent !== undefined) await this.#conclude(idempotent, admitted)
    return admitted
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
  async #conclude (idempotent: IdempotentRequest, admitted: readonly Admitted[]): Promise<void> {
    const made = admitted.some(entry => 'job' in entry)
    await (made ? this.#idempotency.confirm(idempotent, JSON.stringify(admitted)) : this.#idempotency.release(idempotent)).catch(() => {})
  }
}

/** Details of a refusal that is not the caller's doing: Redis takes nothing in. */
export const redisFull = { redis: 'full' } as const

/** What a repeat does about a call that an earlier request has confirmed. Its job has the same id, however many repeats there are. */
function repeatOf (entry: Admitted, now: Planned | undefined): Reservation['entries'][number] {
  if ('job' in entry) return { ...entry, isMade: true }
  const { id } = entry
  if (id === undefined || now === undefined) return entry
  return 'job' in now ? { job: { ...now.job, id } } : { error: now.error, id }
}

function refusalOf (error: Error): CallError {
  if (error instanceof QueueFullError) return { code: 'QUEUE_FULL', message: error.message }
  const message = `The job could not be stored: ${error.message}`
  return error instanceof RedisFullError ? { code: 'QUEUE_FULL', message, details: redisFull } : { code: 'INTERNAL', message }
}
