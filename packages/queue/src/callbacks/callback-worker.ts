import type { ApprovalCallbackBody, ApprovalCallbackData, CallbackBody, CallbackData, OutputRecord } from '@toolyard/contract'
import { eitherSignal, sharedAbort } from '@toolyard/runtime'
import type { Job } from 'bullmq'
import { asError, around } from '@toolyard/contract/terms'
import { type Redis, callbackQueue, serverTime, idOf, RedisUnavailableError } from '@toolyard/store'
import { JobLogWriter, type LogLine } from '../record/log/job-log-writer.ts'
import type { OutputStore, TruncatedOutput } from '../read/output-store.ts'
import type { Retention } from '../record/retention.ts'
import { openWorker } from '../backend/backends.ts'
import { failed, left, RunError, type JobWorker, type Outcome } from '../backend/job-worker.ts'
import { callbackRetention, uncount } from '../queues/callback-outbox.ts'
import { cancelled } from '../record/cancellation.ts'
import { isoTime } from '../record/job-times.ts'
import { CallbackPlaces, gaveWay, places } from './callback-places.ts'

export interface CallbackAttempt {
  url: URL
  /** The same for all attempts of one callback. */
  deliveryId: string
  body: CallbackBody | ApprovalCallbackBody
  /** When it is sent, in milliseconds since 1970 by Redis' clock: receivers refuse what is old. */
  sentAt: number
  /** Aborted when the process stops. */
  signal: AbortSignal
}

/** How an attempt ended; `reason` names no path and no secret. `refused`: it may not be sent, and isn't tried again. */
export type CallbackOutcome =
  | { kind: 'delivered', status: number }
  | { kind: 'failed', reason: string }
  | { kind: 'refused', reason: string }

export interface CallbackOptions {
  /** How often one is sent before it is given up. */
  attempts: number
  /** Sends one; never throws. */
  send: (attempt: CallbackAttempt) => Promise<CallbackOutcome>
  /** Gets the result of each attempt: `delivered`, `failed`, `given_up` or `refused`. */
  onSent: (result: string) => void
}

/** To read callbacks with, and to report their results. */
interface CallbackWorkerParts {
  redis: Redis
  outputs: OutputStore
  retention: Retention
  onError: (error: Error, queue: string) => void
}

/** Before the second attempt there are 0.5 to 1 s, before each further one twice as much. */
const firstPauseMs = 1_000
/** A process that dies while it sends: the callback is sent again, with the same id, within about 20 s. */
const lookMs = 5_000
const holding = { lockMs: 15_000, maxLost: 100, guardMs: lookMs }

type Told = CallbackData | ApprovalCallbackData

export class CallbackWorker {
  readonly #options: CallbackOptions
  readonly #parts: CallbackWorkerParts
  readonly #worker: JobWorker<Told, string>
  #lookTimer: NodeJS.Timeout | undefined
  readonly #stopping = sharedAbort()
  readonly #places = new CallbackPlaces()

  constructor (options: CallbackOptions, parts: CallbackWorkerParts) {
    this.#options = options
    this.#parts = parts
    const { redis } = parts
    this.#worker = openWorker<Told, string>({ redis, retention: callbackRetention, holding }, callbackQueue, {
      concurrency: places,
      renewMs: holding.lockMs / 2,
      run: (job, token) => this.#process(job, token),
      onError: this.#report
    }, { backoffStrategy: (attempt, _type, error) => (error instanceof RunError ? error.pauseMs : undefined) ?? pauseAfter(attempt) })
  }

  start (): void {
    this.#worker.start()
    this.#lookTimer = setInterval(() => { this.#worker.recover().catch(this.#report) }, lookMs)
  }

  /** Takes no more; those that are being sent have `graceMs`, then they are left to another process. */
  async stop (graceMs: number): Promise<void> {
    const timer = setTimeout(() => { this.#stopping.abort() }, graceMs)
    clearInterval(this.#lookTimer)
    await this.#worker.close()
    clearTimeout(timer)
  }

  async #process (job: Job<Told, string>, token: string): Promise<Outcome<string>> {
    const { url: text, queue, jobId, owner } = job.data
    const { redis, retention, outputs, onError } = this.#parts
    const url = new URL(text)
    const deliveryId = idOf(job)
    const log = new JobLogWriter({ redis, queue, jobId, retention, isLate: true, onError: error => { onError(error, callbackQueue) } })
    const { data } = job
    const body = 'body' in data ? data.body : await this.#worker.repeat(deliveryId, () => callbackBody(data, outputs))
    const outcome = await this.#send({ url, deliveryId, body, sentAt: serverTime(redis) }, owner)
    if (outcome.kind === 'failed' && this.#stopping.signal.aborted) {
      this.#worker.leaveJob(deliveryId)
      await this.#worker.repeat(deliveryId, () => job.moveToWait(token))
      return left
    }
    const attempt = job.attemptsMade + 1
    const { result, line, end } = this.#end(outcome, attempt)
    if (result !== 'failed') await this.#worker.repeat(deliveryId, () => uncount(redis, owner, deliveryId))
    this.#options.onSent(result)
    log.write({ ...line, message: `callback to ${url.host} ${line.message}`, meta: { callback: deliveryId, attempt, ...line.meta } })
    await log.close()
    return end
  }

  async #send (attempt: Omit<CallbackAttempt, 'signal'>, owner: string): Promise<CallbackOutcome> {
    const place = this.#places.take(owner)
    const { signal, release } = eitherSignal(this.#stopping.signal, place.signal)
    try {
      const outcome = await this.#options.send({ ...attempt, signal })
      return outcome.kind === 'failed' && place.signal.aborted ? { kind: 'failed', reason: gaveWay } : outcome
    } finally {
      release()
      place.release()
    }
  }

  #end (outcome: CallbackOutcome, attempt: number): { result: string, line: LogLine, end: Outcome<string> } {
    if (outcome.kind === 'delivered') {
      const message = `delivered: status ${outcome.status}`
      return { result: 'delivered', line: { level: 'info', message, meta: { status: outcome.status } }, end: { kind: 'succeeded', result: message } }
    }
    const { kind, reason } = outcome
    if (kind === 'refused') return { result: 'refused', line: { level: 'error', message: `refused: ${reason}` }, end: failed(reason) }
    if (attempt >= this.#options.attempts) {
      return { result: 'given_up', line: { level: 'error', message: `given up after attempt ${attempt}: ${reason}` }, end: failed(reason) }
    }
    const pauseMs = pauseAfter(attempt)
    const nextAt = new Date(serverTime(this.#parts.redis) + pauseMs).toISOString()
    const line: LogLine = { level: 'warn', message: `failed: ${reason}; next attempt at ${nextAt}`, meta: { next_attempt_at: nextAt } }
    return { result: 'failed', line, end: { kind: 'failed', reason, isFinal: false, pauseMs } }
  }

  readonly #report = (error: unknown): void => { this.#parts.onError(asError(error), callbackQueue) }
}

function pauseAfter (attempt: number): number {
  const longest = firstPauseMs * 2 ** (attempt - 1)
  return Math.round(longest * (1 + Math.random()) / 2)
}

/**
 * Sent at a job's end; a large output is truncated as in an answer to a model.
 *
 * @throws RedisUnavailableError
 */
async function callbackBody (data: CallbackData, outputs: OutputStore): Promise<CallbackBody> {
  const { settlement } = data
  const endedAt = isoTime(data.finishedOn)
  return around({
    id: data.jobId,
    type: data.type,
    status: settlement.ok ? 'succeeded' : settlement.error.code === cancelled.code ? 'cancelled' : 'failed',
    attempts: data.attempts,
    max_attempts: data.maxAttempts,
    result: settlement.ok
      ? (await outputs.readForModel(data.queue, data.jobId, settlement.output).catch((error: unknown) =>
          ({ value: withoutOutput(error, settlement.output) }))).value
      : null,
    error: settlement.ok ? null : { ...settlement.error, at: endedAt },
    updated_at: endedAt
  })
}

/** A callback that is sent late may find the output's retention time over. */
function withoutOutput (error: unknown, output: OutputRecord): TruncatedOutput {
  if (error instanceof RedisUnavailableError) throw error
  return { truncated: true, bytes: output.kind === 'stored' ? output.bytes : 0, preview: '' }
}
