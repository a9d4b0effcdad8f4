import { asError, limits } from '@toolyard/contract/terms'
import type { RedisConnection } from 'bullmq'
import { backendOn, listenOn, openQueue, type JobQueue } from '../backend/backends.ts'
import { type Redis, newJobId, ownerOf, serverTime, ReplicasMissingError, type Replicas, asRedisError, JobsUnknownError, RedisFullError, RedisUnavailableError, whileAvailable, BoundedMap, required } from '@toolyard/store'
import { CallbackOutbox, enterEvents } from './callback-outbox.ts'
import { LargeWrites } from './large-writes.ts'
import { FairOrder, linesOf, type Turns } from './fair-order.ts'
import { waitForDependencies } from './dependencies.ts'
import { addedJob } from './added-job.ts'
import { JobIndex } from '../record/job-index.ts'
import { standingOf } from '../record/job-standing.ts'
import type { CompleteJob, NewJob } from '../record/new-job.ts'
import { OpenJobs } from './open-jobs.ts'
import { QueueDepth } from './queue-depth.ts'
import type { QueueDirectory } from './queue-directory.ts'
import type { Retention } from '../record/retention.ts'
import { registerSerial } from './serial-scripts.ts'

/** A queue, a tenant or an API key has as many jobs as it may have. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError'
}

interface JobLimits {
  /** Jobs that wait in one queue. */
  queueDepth: number
  /** Unfinished jobs of a tenant, or of an API key without one; 0 for any number. */
  perOwner: (tenant: string | undefined) => number
}

interface JobQueuesOptions extends Partial<JobLimits> {
  /** Those that must have a job before it counts as added; without it, none. */
  replicas?: Replicas
  /** Shared with those who write as much as the jobs have. */
  large?: LargeWrites
}

type Entered = Pick<CompleteJob, 'id' | 'data' | 'priority'>

const unlimited: JobLimits = { queueDepth: Number.MAX_SAFE_INTEGER, perOwner: () => 0 }

const maxOpened = 200

export class JobQueues {
  /** The jobs in the order of their creation. */
  readonly index: JobIndex
  readonly callbacks: CallbackOutbox
  readonly #redis: Redis
  readonly #directory: QueueDirectory
  readonly #retention: Retention
  readonly #order: FairOrder
  readonly #depth: QueueDepth
  readonly #open: OpenJobs
  readonly #limits: JobLimits
  readonly #large: LargeWrites
  /** BullMQ listens with it, for all queues: names come and go, and nothing is left of them. */
  readonly #listening: RedisConnection
  readonly #queues: BoundedMap<JobQueue>

  constructor (
    redis: Redis, directory: QueueDirectory, retention: Retention, { replicas, large = new LargeWrites(), ...some }: JobQueuesOptions = {}
  ) {
    const jobLimits = { ...unlimited, ...some }
    this.#redis = redis
    this.#directory = directory
    this.#retention = retention
    this.#large = large
    this.index = new JobIndex(redis)
    this.#order = new FairOrder(redis)
    this.#depth = new QueueDepth(redis, jobLimits.queueDepth)
    this.#open = new OpenJobs(redis)
    this.#limits = jobLimits
    this.callbacks = new CallbackOutbox(redis, this.#order)
    this.#listening = listenOn(redis)
    const backendOf = backendOn({ redis, retention, replicas, listening: this.#listening })
    this.#queues = new BoundedMap(queue => openQueue(redis, queue, backendOf), maxOpened)
  }

  newId (): string {
    return newJobId(serverTime(this.#redis))
  }

  /**
   * Adds jobs in one round trip. A job whose id exists is left as it is.
   *
   * @param once whether a job of these ids is made at most once, for as long as an `Idempotency-Key` is known
   * @returns the error of each job that was refused, by job id; the others are added. `QueueFullError` for those that a
   *   limit leaves no room for, the first ones having it; `JobGoneError` for those that were to be made once, were made
   *   and are gone; another error for those that Redis refused (it is full, say).
   * @throws QueueLimitError for a queue too many; JobsUnknownError, after which jobs may or may not exist; another
   *   RedisUnavailableError, after which this made none.
   */
  async add (queue: string, jobs: readonly NewJob[], once = false): Promise<ReadonlyMap<string, Error>> {
    if (this.#redis.status !== 'ready') throw new RedisUnavailableError()
    try {
      return await this.#addWithinLimits(queue, jobs, once ? limits.idempotencySec : 0)
    } catch (error) {
      if (!(error instanceof RedisFullError)) throw error
      return new Map(jobs.map(job => [job.id, error]))
    }
  }

  /**
   * Those of a queue's jobs whose records are no longer kept.
   *
   * @throws RedisUnavailableError
   */
  async gone (queue: string, ids: readonly string[]): Promise<string[]> {
    const standings = await standingOf(this.#redis, queue, ids)
    return ids.filter((_id, place) => standings[place] === 'gone')
  }

  /** BullMQ's queue; all share one connection. */
  open (queue: string): JobQueue {
    return this.#queues.of(queue)
  }

  /**
   * Has workers take no job of a queue, or jobs again.
   *
   * @throws RedisUnavailableError
   */
  async pause (queue: string, isPaused: boolean): Promise<void> {
    const opened = this.open(queue)
    await whileAvailable(isPaused ? opened.pause() : opened.resume())
  }

  /**
   * Enters a job that is to run again, which counts as unfinished from then on.
   *
   * @returns its turn: that of its first run has passed. Undefined where its queue or its owner has no room for it.
   * @throws RedisUnavailableError
   */
  async enterAgain (queue: string, { id, data, priority }: Entered): Promise<Turns | undefined> {
    const entered = { id, data, priority }
    if ((await this.#limit(queue, [entered])).size > 0) return undefined
    const [[line] = []] = linesOf(queue, [entered])
    return await this.#order.take(required(line, 'the line of a job'), 1)
  }

  /**
   * Sees to it that a job which was entered again counts: until it was queued it had ended, so that its entry may have been dropped.
   *
   * @throws RedisUnavailableError
   */
  async keepEntered (queue: string, { id, data }: Pick<NewJob, 'id' | 'data'>): Promise<void> {
    await this.#enter(queue, [{ id, data, priority: limits.priority.default }])
  }

  async close (): Promise<void> {
    await Promise.all([this.#listening.close(), this.callbacks.close()])
  }

  async #addWithinLimits (queue: string, jobs: readonly NewJob[], idempotencySec: number): Promise<Map<string, Error>> {
    await this.#directory.register(queue)
    const complete = jobs.map(job => ({ priority: limits.priority.default, maxAttempts: limits.attempts.default, delayMs: 0, ...job }))
    const refused = await this.#limit(queue, complete)
    // One that is there already needs no room.
    if (idempotencySec > 0 && refused.size > 0) await this.#admitExisting(queue, refused)
    const fitting = complete.filter(job => !refused.has(job.id))
    if (fitting.length > 0) await this.#add(queue, fitting, idempotencySec, refused)
    return refused
  }

  /** The errors of those jobs for which there is no room. */
  async #limit (queue: string, jobs: readonly Entered[]): Promise<Map<string, Error>> {
    const room = await this.#depth.room(queue, jobs.length)
    const refused = await this.#enter(queue, jobs.slice(0, room))
    for (const { id } of jobs.slice(room)) refused.set(id, new QueueFullError(`Queue '${queue}' is full: ${this.#limits.queueDepth} jobs wait in it already`))
    return refused
  }

  /** Enters jobs as unfinished ones of their owners. Gives the errors of those that have too many. */
  async #enter (queue: string, jobs: readonly Entered[]): Promise<Map<string, Error>> {
    const refused = new Map<string, Error>()
    for (const [{ tenant, keyName }, own] of linesOf(queue, jobs)) {
      const max = this.#limits.perOwner(tenant)
      const owner = ownerOf({ tenant, keyName })
      const called = tenant === undefined ? `API key '${keyName}'` : `Tenant '${tenant}'`
      const told = max === 0 ? [] : own.filter(({ data }) => data.callbackUrl !== undefined || data.hold !== undefined)
      if (told.length > 0 && await this.callbacks.count(owner) >= max) {
        const error = new QueueFullError(`${called} has ${max} callbacks that their receivers have not taken yet, the most that one may have`)
        for (const { id } of told) refused.set(id, error)
      }
      const entered = own.filter(({ id }) => !refused.has(id))
      const beyond = await this.#open.enter({ owner, max }, queue, entered.map(job => job.id))
      for (const id of beyond) refused.set(id, new QueueFullError(`${called} has ${max} unfinished jobs already, the most that one may have`))
    }
    return refused
  }

  async #admitExisting (queue: string, refused: Map<string, Error>): Promise<void> {
    const gone = await this.gone(queue, [...refused.keys()])
    for (const id of refused.keys()) if (!gone.includes(id)) refused.delete(id)
  }

  /** Puts what Redis refuses into `refused`. */
  async #add (queue: string, jobs: ReadonlyArray<CompleteJob>, idempotencySec: number, refused: Map<string, Error>): Promise<void> {
    const taken: Turns[] = []
    const turns = new Map<string, number>()
    try {
      for (const [line, own] of linesOf(queue, jobs)) {
        const took = await this.#order.take(line, own.length)
        taken.push(took)
        for (const [index, { id }] of own.entries()) turns.set(id, took.priorities[index] ?? 1)
      }
      for (const { data } of jobs) {
        if (data.serial === true) void registerSerial(this.#redis, { tool: data.tool, queue }).catch(() => {})
      }
      const opened = this.open(queue)
      const now = serverTime(this.#redis)
      const added = jobs.map(job => ({ idempotencySec, ...addedJob(job, turns.get(job.id) ?? 1, now) }))
      const held = jobs.filter(({ data: { hold } }) => hold !== undefined)
      if (held.length > 0) await enterEvents(this.#redis, 'approval.requested', held.map(({ id, data }) => ({ ...data, queue, id })))
      const errors = await this.#large.write(
        ownerOf(required(jobs[0], 'a job').data), added.reduce((sum, { data }) => sum + data.length, 0),
        async () => await whileAvailable(opened.backend.addAll(added)).catch((error: unknown) => { throw refusalOf(error) })
      )
      for (const [id, error] of errors) refused.set(id, refusalOf(error))
      void this.index.tidy(queue, jobs.reduce((sum, { data }) => sum + (data.tenant === undefined ? 1 : 2), 0)).catch(() => {})
    } catch (error) {
      if (error instanceof RedisUnavailableError) throw error
      for (const { id } of jobs) refused.set(id, asError(error))
    } finally {
      for (const { settle } of taken) settle()
    }
    await this.#waitForDependencies(queue, jobs.filter(job => !refused.has(job.id)))
  }

  /** The jobs exist: a failure now is no reason to refuse them. The upkeep finds those that nobody looks at. */
  async #waitForDependencies (queue: string, jobs: ReadonlyArray<CompleteJob>): Promise<void> {
    for (const { id, data: { dependsOn } } of jobs) {
      if (dependsOn === undefined) continue
      try {
        await whileAvailable(waitForDependencies({ redis: this.#redis, queues: this }, { queue, id }, dependsOn))
      } catch (error) {
        if (error instanceof RedisUnavailableError && !(error instanceof RedisFullError)) throw new JobsUnknownError(error)
      }
    }
  }
}

/** @throws JobsUnknownError: what was sent may be there, unless Redis has refused it. */
function refusalOf (failure: unknown): Error {
  const error = asRedisError(failure)
  const isUnknown = error instanceof ReplicasMissingError || (error instanceof RedisUnavailableError && !(error instanceof RedisFullError))
  if (isUnknown) throw new JobsUnknownError(error)
  return error
}
