import { onAbort } from '@toolyard/runtime'
import type { JobData, OutputRecord } from '@toolyard/contract'
import type { Job } from 'bullmq'
import { asError } from '@toolyard/contract/terms'
import { serverTime, mayRedisTakeItLater, idOf } from '@toolyard/store'
import type { Announcer } from './announcer.ts'
import { cancelled, isMarked, type CancelledJobs } from '../record/cancellation.ts'
import type { JobBackendParts } from '../backend/job-backend.ts'
import { failed, left, type JobWorker, type Outcome } from '../backend/job-worker.ts'
import { JobFlow } from '../change/job-flow.ts'
import { openWorker } from '../backend/backends.ts'
import type { SharedPlaces } from '../backend/shared-places.ts'
import { GivenBackJobs, isNewer } from './given-back.ts'
import { PersonChecks, type Waits } from './person-checks.ts'
import { rest } from '../queues/release.ts'
import { JobLogWriter } from '../record/log/job-log-writer.ts'
import { JobProgressWriter, readProgress } from '../record/log/job-progress.ts'
import { JobNotices } from './job-notices.ts'
import { renewMs } from '../backend/lock-times.ts'
import type { JobCanceller } from '../change/job-canceller.ts'
import type { JobQueues } from '../queues/job-queues.ts'
import type { OutputStore } from '../read/output-store.ts'
import { encodeFailure } from '../record/settlement.ts'
import type { TenantPlaces } from './tenant-places.ts'
import { serialJobOf, type SerialLock } from '../queues/serial-lock.ts'
import type { HandlerResult, WorkerPoolOptions } from './handler.ts'
import { lockLost, stopped, takenJobOf, type Run } from './run.ts'

interface QueueWorkerParts extends Pick<JobBackendParts, 'replicas' | 'wait'> {
  announcer: Announcer
  outputs: OutputStore
  cancelled: CancelledJobs
  serialLock: SerialLock
  places: TenantPlaces
  /** Undefined: each queue has its own places alone. */
  shared: SharedPlaces | undefined
  queues: JobQueues
  canceller: JobCanceller
}

/** Until it rests, a job that waits for a person may be due after so many milliseconds. */
const restlessMs = 5_000

export class QueueWorker {
  readonly #queue: string
  readonly #options: WorkerPoolOptions
  readonly #parts: QueueWorkerParts
  readonly #flow: JobFlow
  readonly #worker: JobWorker<JobData, OutputRecord>
  readonly #running = new Map<string, Run>()
  readonly #notices: JobNotices
  readonly #givenBack: GivenBackJobs
  readonly #personChecks: PersonChecks

  constructor (queue: string, options: WorkerPoolOptions, parts: QueueWorkerParts) {
    this.#queue = queue
    this.#options = options
    this.#parts = parts
    this.#notices = new JobNotices(parts.announcer, id => { this.#keepBegun(id).catch(this.#report) })
    this.#personChecks = new PersonChecks(options.redis, queue)
    this.#flow = new JobFlow({ redis: options.redis, queues: parts.queues }, queue)
    const { redis, retention, concurrency, name: workerName, mayTake } = options
    const { replicas, wait, queues: { callbacks } } = parts
    this.#worker = openWorker<JobData, OutputRecord>({ redis, retention, replicas, wait, workerName }, queue, {
      concurrency,
      renewMs,
      places: parts.shared,
      mayTake,
      stayAwayMs: id => this.#givenBack.stayAwayMs(id),
      run: (job, token) => this.#process(job, token),
      // Before anything that can settle the job; commands keep their order.
      onTaken: job => { if (job.data.callbackUrl !== undefined) callbacks.enter({ queue, jobId: idOf(job) }).catch(this.#report) },
      onSettled: job => { this.#settled(job).catch(this.#report) },
      onLost: ids => { for (const id of ids) this.#running.get(id)?.abort.abort(lockLost) },
      onError: this.#report
    })
    this.#givenBack = new GivenBackJobs(this.#worker)
    this.#worker.start()
  }

  get running (): number { return this.#running.size }

  async recover (): Promise<void> { await this.#worker.recover() }

  /** Ends the run of a job that was cancelled, if it runs here. */
  cancel (jobId: string): void { this.#running.get(jobId)?.abort.abort(cancelled) }

  /** See `WorkerPool.stop`. */
  async stop (graceMs: number, hurry?: AbortSignal): Promise<void> {
    const end = (): void => { for (const { abort } of this.#running.values()) abort.abort(stopped) }
    const timer = setTimeout(end, graceMs)
    const off = onAbort([hurry], end)
    await this.#worker.close()
    clearTimeout(timer)
    off()
  }

  async #process (job: Job<JobData, OutputRecord>, token: string): Promise<Outcome<OutputRecord>> {
    const id = idOf(job)
    const { redis, retention } = this.#options
    const log = new JobLogWriter({ redis, queue: this.#queue, jobId: id, retention, onError: this.#report })
    const progress = new JobProgressWriter({ redis, queue: this.#queue, jobId: id, token, onError: this.#report })
    const repeat: Run['repeat'] = operation => this.#worker.repeat(id, operation)
    const run: Run = { job, token, abort: new AbortController(), repeat, log, progress, takenAt: performance.now(), isHandled: false }
    this.#running.set(id, run)
    this.#notices.begin(id)
    try {
      if (isNewer(job.data)) return await this.#putOff(run)
      // First: its canceller is gone, so no one else settles it.
      if (await isMarked(redis, this.#queue, job)) return failed(encodeFailure(cancelled))
      if (this.#parts.cancelled.has(id)) return left
      const pass = await this.#personChecks.enter(job, token)
      switch (pass.kind) {
        case 'lost': return left
        case 'parks': return await this.#hold(run, pass)
        case 'ends':
          await this.#worker.backend.runs.endUnrun(job, token)
          return failed(encodeFailure(pass.error))
        case 'runs': Object.assign(run, { approved: pass.approved, answers: pass.answers, memo: pass.memo })
      }
      const stopped = await this.#flow.admit(job, ms => this.#park(run, ms))
      if (stopped !== undefined) return stopped
      const { places, serialLock } = this.#parts
      const isSerial = job.data.serial === true || this.#options.isSerial?.(job.data.tool) === true
      const leave = await places.take(job.data.tenant, id)
      if (leave === undefined) {
        const park = (): Promise<void> => places.park(job.data.tenant, { queue: this.#queue, id }, ms => this.#park(run, ms))
        await (isSerial ? serialLock.parkOutside(serialJobOf(job, this.#queue), park) : park())
        return left
      }
      const result = await (isSerial ? this.#handleSerially(run) : this.#handleFlowing(run)).finally(leave)
      // Who sees the final state finds the whole log.
      await Promise.all([log.close(), progress.close()])
      // Whoever cancels a job settles it.
      return run.abort.signal.reason === cancelled ? left : await this.#end(run, result)
    } catch (error) {
      if (run.isHandled || !mayRedisTakeItLater(error)) throw error
      return await this.#putOff(run)
    } finally {
      if (this.#running.get(id) === run) {
        this.#running.delete(id)
        this.#notices.over(id)
      }
    }
  }

  async #handle (run: Run): Promise<HandlerResult> {
    run.isHandled = true
    const { job, token, progress } = run
    if (readProgress(job.progress) !== undefined) await progress.clear()
    const { runs } = this.#worker.backend
    const lostBefore = job.attemptsStarted > job.attemptsMade + 1 && !runs.isUnbegun(job)
    // A job that makes jobs is taken again and again.
    const isRepeated = job.attemptsStarted > 1 || job.data.access !== undefined || job.data.hold !== undefined || run.answers !== undefined
    const waitedMs = isRepeated ? undefined : Math.max(0, serverTime(this.#options.redis) - job.timestamp - (job.opts.delay ?? 0))
    return await this.#options.handle({ ...takenJobOf(run, this.#queue), lostBefore, begin: () => runs.beginOnce(job, token), waitedMs })
  }

  /** Notes a long run as begun. Unlike `begin`, the run doesn't wait for it. A call that was approved may still be held again. */
  async #keepBegun (id: string): Promise<void> {
    const run = this.#running.get(id)
    if (run === undefined || run.job.data.hold !== undefined || !this.#worker.backend.runs.isUnbegun(run.job)) return
    if (!await this.#worker.backend.runs.begin(run.job, run.token)) run.abort.abort(lockLost)
  }

  /** Runs a job. If it is to wait for its steps, parks it; if none of them is pending any more, runs it again at once. */
  async #handleFlowing (run: Run): Promise<HandlerResult | typeof left> {
    for (let seen = -1; ;) {
      const result = await this.#handle(run)
      if (result.kind !== 'waits' || run.abort.signal.reason === cancelled) return result
      // Each wait is for more than the one before; else it would be for nothing, and for ever.
      if (result.wait.settled <= seen) throw new Error('The job waits for nothing')
      seen = result.wait.settled
      await Promise.all([run.log.close(), run.progress.close()])
      if (await this.#flow.park(run, result.wait)) return left
    }
  }

  /** Runs the job of a serial tool when it is its turn, else parks it, as if it hadn't been started. */
  async #handleSerially (run: Run): Promise<HandlerResult | typeof left> {
    const { job, token } = run
    const serial = serialJobOf(job, this.#queue)
    const turn = await this.#parts.serialLock.enter(serial, token)
    if (turn !== 'runs') {
      await this.#park(run, await this.#parts.serialLock.parkMs(serial))
      await this.#parts.serialLock.parked(serial, turn)
      return left
    }
    try {
      return await this.#handle(run)
    } finally {
      // What becomes of the job doesn't depend on it: the upkeep frees the tool as well.
      await run.repeat(() => this.#parts.serialLock.release(serial, token)).catch(this.#report)
    }
  }

  /** Parks a job until somebody wakes it, as if it hadn't been started; it comes by itself after so many milliseconds. */
  async #park (run: Run, ms: number): Promise<void> {
    await this.#givenBack.park(run, ms)
    this.#notices.changed(idOf(run.job))
  }

  /** Leaves a job to another worker, or to a later time, as if it hadn't been started. */
  async #putOff (run: Run, isForOthers = false): Promise<typeof left> {
    if (isNewer(run.job.data)) this.#worker.yieldToOthers()
    await this.#givenBack.putOff(run, isForOthers)
    this.#notices.changed(idOf(run.job))
    return left
  }

  /** Parks a job that waits for a person, where it is still this worker's. Should this process die half way, it is due soon. */
  async #hold (run: Run, waits: Waits | undefined): Promise<typeof left> {
    if (waits === undefined) return left
    await this.#park(run, Math.min(waits.ms, restlessMs))
    const parts = { redis: this.#options.redis, queues: this.#parts.queues }
    await run.repeat(() => rest(parts, { queue: this.#queue, id: idOf(run.job) }, waits.record))
    return left
  }

  async #end (run: Run, result: HandlerResult | typeof left): Promise<Outcome<OutputRecord>> {
    switch (result.kind) {
      case 'succeeded': {
        const record = await this.#parts.outputs.save({ queue: this.#queue, id: idOf(run.job), repeat: run.repeat }, result)
        const { sandbox, files, moreFiles } = result
        return { kind: 'succeeded', result: { ...record, ...(sandbox && { sandbox }), ...(files && { files }), ...(moreFiles && { moreFiles }) } }
      }
      case 'failed': return { ...failed(encodeFailure(result.error, result.sandbox)), isFinal: result.retry !== true }
      case 'requeued': {
        const outcome = await this.#givenBack.giveBack(run)
        this.#notices.changed(idOf(run.job))
        return outcome
      }
      case 'later': return await this.#putOff(run, result.nowhere)
      case 'taken':
      case 'left': return left
      case 'held':
      case 'asks': return await this.#hold(run, await this.#personChecks.waitsFor(run, result))
      case 'waits': throw new Error('A job of a serial tool does not wait for others')
    }
  }

  async #settled (job: Job<JobData, OutputRecord>): Promise<void> {
    if (job.data.callbackUrl !== undefined) this.#parts.queues.callbacks.post(this.#queue, job).catch(this.#report)
    await this.#flow.settled(job, this.#worker.backend.mayHaveDependents(job))
    // A workflow that fails here may have steps that run.
    if (job.data.access !== undefined) await this.#parts.canceller.cancelSteps(this.#queue, idOf(job))
  }

  readonly #report = (error: unknown): void => { this.#options.onError(asError(error), this.#queue) }
}
