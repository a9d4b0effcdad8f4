import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import type { JobStatus, QueueWorker } from '@bull-board/api/typings/app'
import type { JobData, OutputRecord } from '@toolyard/contract'
import { limits, writeThrough } from '@toolyard/contract/terms'
import type { Redact } from '@toolyard/runtime'
import { fromRedis, idOf, listWorkers, whileAvailable, type Redis } from '@toolyard/store'
import type { Job } from 'bullmq'
import type { JobQueues } from '../queues/job-queues.ts'
import { publicPriority } from '../queues/fair-order.ts'
import { shownArguments } from '../record/job-arguments.ts'
import type { JobLogs } from '../read/job-log.ts'
import type { OutputStore } from '../read/output-store.ts'
import { decodeFailure, runsOf } from '../record/settlement.ts'
import { createShown, type Shown } from './shown.ts'

export interface BoardParts {
  redis: Redis
  queues: JobQueues
  outputs: OutputStore
  logs: JobLogs
  /** Makes what replaces secrets on one page. */
  redactor: () => Redact
}

/** The header in which a request says which queues its viewer may see, as JSON: a list of names, or null for all. */
export const viewerHeader = 'x-toolyard-queues'

/** UTF-16 units of one value on a page with one job, and on one with many. */
const shownChars = { one: 65_536, many: 2_048 }
const mostJobs = 50
/** So many workers are looked at for those that serve a queue. */
const mostWorkers = 500

/** One queue as bull-board sees it: to be looked at, in public words, without secrets and without what is too large for a page. */
export class BoardQueue extends BullMQAdapter {
  readonly #name: string
  readonly #parts: BoardParts

  constructor (name: string, parts: BoardParts) {
    super(parts.queues.open(name), { readOnlyMode: true })
    this.#name = name
    this.#parts = parts
    this.setVisibilityGuard(({ headers }) => {
      const seen: unknown = JSON.parse(String(headers[viewerHeader] ?? '[]'))
      return seen === null || (Array.isArray(seen) && seen.includes(name))
    })
  }

  override getName (): string {
    return this.#name
  }

  override async getJob (id: string): Promise<Job | undefined> {
    const job = fromRedis<Job<JobData> | undefined>(await whileAvailable(super.getJob(id)))
    return job && await this.#show(job, createShown(this.#parts.redactor(), shownChars.one), true)
  }

  override async getJobs (states: JobStatus[], start = 0, end = start): Promise<Job[]> {
    const jobs = fromRedis<Array<Job<JobData>>>(await whileAvailable(super.getJobs(states, start, Math.min(end, start + mostJobs - 1))))
    const shown = createShown(this.#parts.redactor(), shownChars.many)
    return await Promise.all(jobs.map(async job => await this.#show(job, shown, false)))
  }

  override async getJobLogs (id: string): Promise<string[]> {
    const lines = (await this.#parts.logs.tail(this.#name, id, limits.logTail.max))
      .map(({ ts, level, message, meta }) => `${ts} ${level} ${message}${meta === null ? '' : ` ${JSON.stringify(meta)}`}`)
    return createShown(this.#parts.redactor(), limits.logMessageChars).texts(lines)
  }

  /** The processes that serve the queue: BullMQ would ask Redis for its connections. */
  override async getWorkers (): Promise<QueueWorker[]> {
    const { workers } = await listWorkers(this.#parts.redis, mostWorkers)
    return workers.filter(({ queues }) => queues.includes('*') || queues.includes(this.#name)).map(({ id, host, startedAt, seenAt }) => (
      { id, name: id, addr: host ?? '', age: Math.max(0, Math.round((seenAt - Date.parse(startedAt)) / 1_000)) }
    ))
  }

  /** None: it would show jobs of queues that the viewer may not see, with their outputs. The console shows the steps of a workflow. */
  override async getFlowProducer (): Promise<null> {
    return null
  }

  /** @param whole whether also an output is read that isn't in the job */
  async #show (job: Job<JobData>, shown: Shown, whole: boolean): Promise<Job> {
    const { name, timestamp, processedOn, finishedOn, delay, attemptsMade, stalledCounter, failedReason } = job
    const { tool, timeoutSec, tags, keyName, serial } = job.data
    const failures = finishedOn === undefined || typeof failedReason !== 'string' ? [] : [decodeFailure(failedReason)]
    const record = fromRedis<OutputRecord | null | undefined>(job.returnvalue) ?? undefined
    const output = record?.kind === 'stored' && !whole
      ? { stored: true, bytes: record.bytes, note: 'open the job to see its output' }
      : record && (await this.#parts.outputs.readForModel(this.#name, idOf(job), record).catch(() => undefined))?.value
    const view = {
      ...{ id: idOf(job), name, timestamp, processedOn, finishedOn, delay, attemptsMade, stalledCounter, progress: 0 },
      attemptsStarted: runsOf(job.attemptsStarted, failedReason),
      priority: publicPriority(job.priority),
      // Without the parent: it may be in a queue that the viewer must not see.
      opts: { attempts: job.opts.attempts, delay: job.opts.delay },
      // Only fields that are known to have nothing beyond what the submitter gave.
      data: shown.value({
        tool,
        arguments: shownArguments(job.data),
        timeout_sec: timeoutSec,
        tags,
        key: keyName,
        ...(serial === true ? { serial } : {})
      }),
      returnvalue: shown.value(output),
      failedReason: shown.texts(failures.map(({ code, message }) => `${code}: ${message}`))[0] ?? '',
      stacktrace: shown.texts(failures.map(({ code, message, details }) => `${code}: ${message}${details === undefined ? '' : `\n\n${writeThrough(details)}`}`))
    }
    return Object.assign(job, { toJSON: () => view })
  }
}
