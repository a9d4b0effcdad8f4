import { BaseAdapter } from '@bull-board/api/dist/queueAdapters/base.js'
import type { JobCleanStatus, JobCounts, JobStatus, QueueMetrics, QueueWorker, Status } from '@bull-board/api/typings/app'
import type { JobData, LogEntry, OutputRecord } from '@toolyard/contract'
import { limits } from '@toolyard/contract/terms'
import type { FlowProducer, Job } from 'bullmq'
import type { JobQueue } from '../backend/backends.ts'
import { listWorkers, whileAvailable, idOf, fromRedis } from '@toolyard/store'
import { bullmq } from '../record/bullmq.ts'
import type { RerunResult } from '../change/finished-jobs.ts'
import { BoardJob } from './board-job.ts'
import { RefusedAction, type BoardParts, type Viewer } from './board-parts.ts'
import { createShown } from './shown.ts'

/** UTF-16 units of one value on a page with one job, and on one with many. */
const shownChars = { one: 65_536, many: 2_048 }

/** So many workers are looked at for those that serve a queue. */
const mostWorkers = 500

const statuses = ['active', 'waiting', 'waiting-children', 'prioritized', 'completed', 'failed', 'delayed'] as JobStatus[]

const rerunRefusals: Record<Exclude<RerunResult, 'queued'>, string> = {
  missing: 'The job is gone.',
  unfailed: 'Only a failed job can be run again.',
  cancelled: 'A cancelled job is cancelled for good: submit it anew.',
  forbidden: 'This tool needs permissions that your API key does not have.'
}

/** What reads the flows of queues that are open. */
export type FlowProducers = WeakMap<JobQueue, FlowProducer>

/** One queue as bull-board sees it, for one viewer. Whatever could break a promise to a caller is refused here. */
export class BoardQueue extends BaseAdapter {
  readonly #name: string
  readonly #queue: JobQueue
  readonly #parts: BoardParts
  readonly #viewer: Viewer
  readonly #flows: FlowProducers

  constructor (name: string, parts: BoardParts, viewer: Viewer, flows: FlowProducers) {
    const options = { readOnlyMode: viewer.readOnly, allowCompletedRetries: false }
    super('bullmq', options)
    this.#name = name
    this.#queue = parts.queues.open(name)
    this.#parts = parts
    this.#viewer = viewer
    this.#flows = flows
  }

  /** The public name. */
  getName (): string {
    return this.#name
  }

  // bull-board follows flows by these three.
  getQueueName (): string {
    return this.#queue.name
  }

  getQueueQualifiedName (): string {
    return this.#queue.qualifiedName
  }

  async getFlowProducer (): Promise<FlowProducer> {
    // It works over the queue's own connection, and listens to that for ever: a queue has one.
    const known = this.#flows.get(this.#queue) ?? new bullmq.FlowProducer(this.#queue.opts, () => this.#queue.getBackend())
    this.#flows.set(this.#queue, known)
    return known
  }

  async getJob (id: string): Promise<BoardJob | undefined> {
    const job = fromRedis<Job<JobData> | undefined>(await whileAvailable(this.#queue.getJob(id)))
    if (job === undefined) return undefined
    const record = fromRedis<OutputRecord | null>(job.returnvalue)
    const output = record?.kind === 'stored' ? await this.#parts.outputs.readForModel(this.#name, id, record).catch(() => undefined) : undefined
    return this.#show(job, shownChars.one, output)
  }

  async getJobs (wanted: JobStatus[], start?: number, end?: number): Promise<BoardJob[]> {
    const jobs = await whileAvailable(this.#queue.getJobs(wanted.filter(status => status !== 'paused'), start, end)) as Array<Job<JobData> | undefined>
    return jobs.filter(job => job !== undefined).map(job => this.#show(job, shownChars.many))
  }

  async getJobCounts (): Promise<JobCounts> {
    return await whileAvailable(this.#queue.getJobCounts())
  }

  async getJobLogs (id: string): Promise<string[]> {
    const { texts } = createShown(this.#viewer.redact, limits.logMessageChars)
    return texts((await this.#parts.logs.tail(this.#name, id, limits.logTail.max)).map(lineText))
  }

  getStatuses (): Status[] {
    return ['latest', ...statuses]
  }

  getJobStatuses (): JobStatus[] {
    return statuses
  }

  async getRedisInfo (): Promise<string | null> {
    return await whileAvailable(this.#parts.redis.info())
  }

  override async getWorkers (): Promise<QueueWorker[] | null> {
    const { workers } = await listWorkers(this.#parts.redis, mostWorkers)
    return workers.filter(({ queues }) => queues.includes('*') || queues.includes(this.#name)).map(({ id, host, startedAt, seenAt }) => (
      { id, name: id, addr: host ?? '', age: Math.max(0, Math.round((seenAt - Date.parse(startedAt)) / 1_000)) }
    ))
  }

  async isPaused (): Promise<boolean> {
    return await whileAvailable(this.#queue.isPaused())
  }

  async pause (): Promise<void> {
    await this.#parts.queues.pause(this.#name, true)
  }

  async resume (): Promise<void> {
    await this.#parts.queues.pause(this.#name, false)
  }

  /** Runs the queue's failed jobs again; how many it were, and how many couldn't be. */
  async retryFailed (): Promise<{ retried: number, skipped: number }> {
    return await this.#parts.finished.rerunAll(this.#name, this.#viewer)
  }

  async clean (state: JobCleanStatus): Promise<void> {
    if (state !== 'completed' && state !== 'failed') throw new RefusedAction('Only jobs that have ended can be removed: cancel the others.')
    await this.#parts.finished.removeAll(this.#name, state)
  }

  // Nobody makes schedulers, metrics or limits in queues of Toolyard.
  async getJobSchedulers (): Promise<[]> { return [] }
  async getJobSchedulersCount (): Promise<number> { return 0 }
  async getMetrics (): Promise<QueueMetrics> { return { meta: { count: 0, prevTS: 0, prevCount: 0 }, data: [], count: 0 } }
  async getGlobalConcurrency (): Promise<null> { return null }
  async addJob (): Promise<never> { throw new RefusedAction('Jobs are submitted over the API.') }
  async empty (): Promise<void> { throw new RefusedAction('Jobs that wait are not thrown away: cancel them.') }
  async obliterate (): Promise<void> { throw new RefusedAction('Queues go away by themselves.') }
  async promoteAll (): Promise<void> { throw new RefusedAction('Delayed jobs are promoted one by one.') }
  async removeJobScheduler (): Promise<boolean> { return false }
  async updateJobScheduler (): Promise<'not-found'> { return 'not-found' }
  async runJobSchedulerNow (): Promise<'not-found'> { return 'not-found' }
  async setGlobalConcurrency (): Promise<void> { throw new RefusedAction('WORKER_CONCURRENCY says how many calls of a queue run at once.') }

  #show (job: Job<JobData>, maxChars: number, output?: unknown): BoardJob {
    const id = idOf(job)
    const { finished } = this.#parts
    return new BoardJob(job, {
      shown: createShown(this.#viewer.redact, maxChars),
      output,
      actions: {
        promote: async () => {
          await whileAvailable(job.promote()).catch((error: unknown) => { throw notDelayed(error) })
        },
        remove: async () => {
          if (!await finished.remove(this.#name, id)) throw new RefusedAction('Only a job that has ended can be removed: cancel it first.')
        },
        retry: async () => {
          const result = await finished.rerun(this.#name, id, this.#viewer)
          if (result !== 'queued') throw new RefusedAction(rerunRefusals[result])
        }
      }
    })
  }
}

function lineText ({ ts, level, message, meta }: LogEntry): string {
  return `${ts} ${level} ${message}${meta === null ? '' : ` ${JSON.stringify(meta)}`}`
}

/** BullMQ's error of a job that isn't delayed any more has a code. */
function notDelayed (error: unknown): unknown {
  return error instanceof Error && 'code' in error && typeof error.code === 'number' ? new RefusedAction('The job is not delayed any more.') : error
}
