import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { JobAccess, JobListQuery, JobSummary } from '@toolyard/contract'
import type { Asker, JobLister } from '../read/job-lister.ts'
import {
  JobsUnknownError, newJobId, ownerOf, RedisFullError, RedisUnavailableError, type JobScope, type Redis, serverTime
} from '@toolyard/store'
import { TurnMissedError } from '@toolyard/runtime'
import { begun, BulkRecords, type Bulk, type BulkOrder } from './bulk-record.ts'
import type { FinishedJobs } from './finished-jobs.ts'
import type { JobCanceller } from './job-canceller.ts'

/*
 * A bulk change is one of: running -> done, or running -> stopped. An API process does it a page of jobs at a time, under a
 * lease, and notes after each page where it is. Where that process is lost, another one does its page again: a job that is
 * cancelled stays so, and a job remembers by which change it was run again. See docs/decisions/0043-run-again.md.
 */

interface BulkChangesParts {
  redis: Redis
  lister: JobLister
  canceller: JobCanceller
  finished: FinishedJobs
  /** Whether a key with these bounds could have this tool run. */
  mayRun: (tool: string, key: Omit<JobAccess, 'queues'>) => boolean
  onError: (error: unknown, id: string) => void
}

type BulkRequest = Omit<BulkOrder, 'id' | 'query' | 'total' | 'createdAt'> & { query: JobListQuery }

const pageSize = 100
const atOnce = 10
const leaseMs = 15_000
/** What two processes take for the time of Redis may differ by so much: a job that was answered before is meant, by whichever process. */
const apartMs = 200
/** Of one tenant, at the same time. */
const mostRunning = 10
/** How often a process looks for changes whose process is gone. */
const lookMs = 5_000

/** Cancels all jobs that fit a filter, or runs them again. Its methods throw RedisUnavailableError. */
export class BulkChanges {
  readonly #parts: BulkChangesParts
  readonly #records: BulkRecords
  readonly #holder = randomUUID()
  readonly #running = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor (parts: BulkChangesParts) {
    this.#parts = parts
    this.#records = new BulkRecords(parts.redis)
  }

  /** Goes on with what other processes have left. */
  start (): void {
    this.#timer ??= setInterval(() => { void this.#look() }, lookMs).unref()
  }

  stop (): void {
    this.#isStopped = true
    clearInterval(this.#timer)
  }

  /** Undefined when too many of the same tenant run. @throws TurnMissedError, also when the signal aborts before it begins. */
  async begin (
    { query: { limit: _, cursor: __, ...query }, scope, ...request }: BulkRequest, signal?: AbortSignal
  ): Promise<Bulk | undefined> {
    const createdAt = serverTime(this.#parts.redis)
    const last = createdAt + apartMs
    // Jobs are run again in the order in which they were made: each may depend on earlier ones.
    const order = request.action === 'run_again' ? 'oldest' as const : 'newest' as const
    const bounded = { ...query, order, to: Math.min(query.to ?? last, last) }
    const asker = { ...askerOf(scope, request.keyName), ...(signal === undefined ? {} : { signal }) }
    const { total, complete } = await this.#parts.lister.count({ ...bounded, limit: 1 }, scope, asker)
    if (signal?.aborted === true) throw new TurnMissedError()
    const id = newJobId(createdAt)
    const asked = { ...request, id, query: bounded, scope, createdAt, total: complete ? total : null }
    if (!await this.#add(asked)) return undefined
    // Who hears that it is begun makes later jobs, which are not meant. The clock of Redis may have been set back since.
    await delay(Math.min(apartMs + 1, Math.max(0, last + 1 - serverTime(this.#parts.redis))))
    void this.#goOn(id)
    return { ...asked, ...begun }
  }

  /** @throws JobsUnknownError where Redis may have heard of it: then a process goes on with it. */
  async #add (order: BulkOrder): Promise<boolean> {
    try {
      return await this.#records.add(order, mostRunning)
    } catch (error) {
      if (!(error instanceof RedisUnavailableError) || error instanceof RedisFullError) throw error
      throw new JobsUnknownError(error, 'The change may have begun: GET /v1/bulk lists it')
    }
  }

  /** Those of a scope, the newest first. */
  async list (scope: JobScope): Promise<Bulk[]> {
    return (await this.#records.list(scope.tenant)).filter(bulk => isWithin(bulk.scope, scope))
  }

  async read (id: string, scope: JobScope): Promise<Bulk | undefined> {
    const bulk = await this.#records.read(id)
    return bulk !== undefined && isWithin(bulk.scope, scope) ? bulk : undefined
  }

  /** Stops one; what was changed stays. */
  async halt (id: string, scope: JobScope): Promise<Bulk | undefined> {
    const bulk = await this.read(id, scope)
    if (bulk?.state === 'running') await this.#records.stop(id, serverTime(this.#parts.redis))
    return await this.read(id, scope)
  }

  async #look (): Promise<void> {
    try {
      for (const id of await this.#records.running()) void this.#goOn(id)
    } catch { /* Redis is away: the next look is soon. */ }
  }

  async #goOn (id: string): Promise<void> {
    if (this.#running.has(id)) return
    this.#running.add(id)
    try {
      while (!this.#isStopped && await this.#records.lease(id, this.#holder, leaseMs)) {
        const bulk = await this.#records.read(id)
        if (bulk?.state !== 'running') {
          await this.#records.forget(id)
          break
        }
        if (!await this.#page(bulk)) break
      }
    } catch (error) {
      this.#parts.onError(error, id)
    } finally {
      this.#running.delete(id)
    }
  }

  /** Does one page; whether there is another one. */
  async #page (bulk: Bulk): Promise<boolean> {
    const { id, query, scope, keyName, cursor } = bulk
    const place = cursor === undefined ? {} : { cursor }
    const { jobs, nextCursor } = await this.#parts.lister.list({ ...query, limit: pageSize, ...place }, scope, askerOf(scope, keyName))
    let [seen, changed] = [0, 0]
    while (seen < jobs.length && (seen === 0 || await this.#isStillOwn(id))) {
      const some = jobs.slice(seen, seen + atOnce)
      const results = await Promise.all(some.filter(job => !isBlocked(job)).map(async job => await this.#change(bulk, job)))
      // Each depends on jobs that are older: they are run again before it.
      for (const job of some.filter(isBlocked)) results.push(await this.#change(bulk, job))
      seen += some.length
      changed += results.filter(Boolean).length
    }
    const done = { seen, changed, cursor: nextCursor, at: serverTime(this.#parts.redis) }
    return await this.#records.advance(id, this.#holder, done)
  }

  /** Not so where it was stopped, or this process stood still for so long that another one goes on with it. */
  async #isStillOwn (id: string): Promise<boolean> {
    return await this.#records.lease(id, this.#holder, leaseMs) && (await this.#records.read(id))?.state === 'running'
  }

  async #change (bulk: Bulk, { id, queue, status }: JobSummary): Promise<boolean> {
    const { id: bulkId, action, keyName, permissions, namespaces, hosts, scope: { tenant } } = bulk
    const isOpen = status === 'queued' || status === 'held' || status === 'input_required' || status === 'running'
    if (action === 'cancel') return isOpen && await this.#parts.canceller.cancel(queue, id) === 'cancelled'
    if (status !== 'failed') return false
    const mayRun = (tool: string): boolean => this.#parts.mayRun(tool, { permissions, namespaces, hosts, tenant })
    return await this.#parts.finished.rerun(queue, id, { bulkId, keyName, mayRun }) === 'queued'
  }
}

function isBlocked ({ error }: JobSummary): boolean {
  return error?.code === 'DEPENDENCY_BLOCKED'
}

function askerOf ({ tenant }: JobScope, keyName: string): Asker {
  return { owner: ownerOf({ tenant, keyName }) }
}

/** Whether one may see all that the other may. */
function isWithin (inner: JobScope, { tenant, queues }: JobScope): boolean {
  const isOfQueues = queues === undefined || (inner.queues?.every(queue => queues.includes(queue)) ?? false)
  return isOfQueues && (tenant === undefined || inner.tenant === tenant)
}
