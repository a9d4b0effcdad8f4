import type { QueueJob, QueueJobJson } from '@bull-board/api/typings/app'
import type { CallError, JobData, OutputRecord } from '@toolyard/contract'
import type { Job } from 'bullmq'
import { publicPriority } from '../queues/fair-order.ts'
import { decodeFailure, runsOf } from '../record/settlement.ts'
import type { Shown } from './shown.ts'
import { idOf, fromRedis } from '@toolyard/store'

/** What a dashboard may do with a job. */
export interface JobActions {
  promote: () => Promise<void>
  remove: () => Promise<void>
  retry: () => Promise<void>
}

/** A job as the dashboard shows it: public words, no secrets, nothing that is too large for a page. */
export class BoardJob implements QueueJob {
  readonly id: string
  readonly opts: Job['opts']
  /** Names of the queue, by which bull-board finds the jobs of a flow. */
  readonly queueName: string
  readonly queueQualifiedName: string
  readonly #job: Job<JobData>
  readonly #actions: JobActions
  readonly #shown: Shown
  /** The job's output where that is stored beside it and was read. */
  readonly #output: unknown

  constructor (job: Job<JobData>, { actions, shown, output }: { actions: JobActions, shown: Shown, output?: unknown }) {
    this.id = idOf(job)
    this.opts = job.opts
    this.queueName = job.queueName
    this.queueQualifiedName = job.queueQualifiedName
    this.#job = job
    this.#actions = actions
    this.#shown = shown
    this.#output = output
  }

  getState (): ReturnType<QueueJob['getState']> {
    return this.#job.getState()
  }

  async promote (): Promise<void> {
    await this.#actions.promote()
  }

  async remove (): Promise<void> {
    await this.#actions.remove()
  }

  async retry (): Promise<void> {
    await this.#actions.retry()
  }

  getDependenciesCount (): ReturnType<NonNullable<QueueJob['getDependenciesCount']>> {
    return this.#job.getDependenciesCount()
  }

  toJSON (): QueueJobJson {
    const { timestamp, processedOn, finishedOn, delay, attemptsMade, attemptsStarted, stalledCounter, name } = this.#job
    const failure = finishedOn === undefined || typeof this.#job.failedReason !== 'string' ? undefined : decodeFailure(this.#job.failedReason)
    return {
      id: this.id,
      name,
      timestamp,
      ...(processedOn === undefined ? {} : { processedOn }),
      ...(finishedOn === undefined ? {} : { finishedOn }),
      delay,
      attemptsMade,
      attemptsStarted: runsOf(attemptsStarted, this.#job.failedReason),
      stalledCounter,
      progress: 0,
      priority: publicPriority(this.#job.priority),
      opts: this.#options(),
      data: this.#data(),
      returnvalue: this.#shown.value(this.#result()),
      failedReason: failure === undefined ? '' : this.#shown.text(`${failure.code}: ${failure.message}`),
      stacktrace: failure === undefined ? [] : [this.#shown.text(describe(failure))]
    }
  }

  /** Only fields that are known to have nothing beyond what the submitter gave. */
  #data (): unknown {
    const { tool, arguments: args, timeoutSec, tags, keyName, serial } = this.#job.data
    return this.#shown.value({ tool, arguments: args, timeout_sec: timeoutSec, tags, key: keyName, ...(serial === true ? { serial } : {}) })
  }

  /** Without the parent: it may be in a queue that the viewer must not see. The flow shows it. */
  #options (): object {
    const { attempts, delay } = this.opts
    return { attempts, ...(delay === undefined ? {} : { delay }) }
  }

  #result (): unknown {
    const record = fromRedis<OutputRecord | null | undefined>(this.#job.returnvalue)
    if (record?.kind === 'inline') return record.value
    if (record?.kind !== 'stored') return undefined
    return this.#output ?? { stored: true, bytes: record.bytes, note: 'open the job to see its output' }
  }
}

function describe ({ code, message, details }: CallError): string {
  if (details === undefined) return `${code}: ${message}`
  const json = JSON.stringify(details)
  // With the white space of lines, lists in lists are a hundred times as long.
  return `${code}: ${message}\n\n${json.length > mostPretty ? json : JSON.stringify(details, null, 2)}`
}

/** UTF-16 units of details that are shown in lines. */
const mostPretty = 4_096
