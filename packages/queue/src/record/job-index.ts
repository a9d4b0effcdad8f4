import type { JobOrder } from '@toolyard/contract'
import { type Redis, createdAt, createdKey, serverTime, BoundedMap, isTexts, readStored } from '@toolyard/store'
import type { CompleteJob } from './new-job.ts'
import { filterJobs, type JobFilter, type IndexRange } from './job-filter.ts'
import { standingOf } from './job-standing.ts'

/*
 * Each queue has a sorted set of the jobs that were made in it. All scores are 0, so Redis sorts by the members. A member
 * begins with the job's id, and has what a list filters by and what never changes. See docs/decisions/0014-job-index.md.
 * A job of a tenant has a second member, which begins with `@`, the tenant and a space: no page of a tenant needs to pass
 * over jobs of another one. Ids of jobs come before `@`.
 *
 * BullMQ removes old jobs and knows nothing of this set. So each add examines twice as many members as it adds, in turn,
 * and drops those whose job is gone: the set stays within about twice the jobs that exist.
 */

export interface IndexedJob {
  id: string
  queue: string
  type: string
  tool: string
  tags: string[]
  priority: number
  timeoutSec: number
  maxAttempts: number
  callbackUrl: string | undefined
  tenant: string | undefined
  /** Undefined for jobs of releases that didn't write it. */
  keyName: string | undefined
}

interface IdSpan {
  order: JobOrder
  /** Not older than. */
  since?: string | undefined
  /** Older than. */
  before?: string | undefined
  /** The last one that was looked at before. */
  passed?: string | undefined
}

/** Younger members are not examined, in milliseconds: hardly any job is kept for less. */
const settledMs = 60_000
const leastExamined = 100

export class JobIndex {
  readonly #redis: Redis
  /** For each queue: how many members are to be examined, and after which. */
  readonly #tidying = new BoundedMap(() => ({ owed: 0, after: '' }))

  constructor (redis: Redis) {
    this.#redis = redis
  }

  /** Examines twice as many members as were added, once enough have come together. After a failure a later turn comes to them. */
  async tidy (queue: string, count: number): Promise<void> {
    const tidying = this.#tidying.of(queue)
    tidying.owed += 2 * count
    if (tidying.owed >= leastExamined) await this.#tidy(queue, tidying)
  }

  /**
   * Looks for jobs of all queues that may fit a filter, in a piece of the index.
   *
   * @param tenant the only tenant; undefined means all jobs.
   * @returns the jobs, and the id up to which, in this order, all were looked at; undefined when there are no more.
   * @throws RedisUnavailableError
   */
  async find (
    queues: readonly string[], span: IdSpan, filter: JobFilter, tenant?: string
  ): Promise<{ jobs: IndexedJob[], passed: string | undefined }> {
    const range = rangeOf(stemOf(tenant), span)
    const comesFirst = (a: string, b: string): boolean => span.order === 'oldest' ? a < b : a > b
    const pieces = await Promise.all(queues.map(async queue => ({ queue, ...await filterJobs(this.#redis, queue, range, filter) })))
    const ends = pieces.flatMap(({ last }) => last === undefined ? [] : [idOf(last)])
    const passed = ends.length === 0 ? undefined : ends.reduce((a, b) => comesFirst(a, b) ? a : b)
    // The piece of one queue may end before that of another. Only jobs up to the earliest end are complete in their order; the
    // rest is left for the next page. Ids are compared before members are decoded, since decoding takes time.
    const found = pieces.flatMap(({ queue, members }) => members.map(member => ({ queue, member, id: idOf(member) })))
    const whole = found.filter(({ id }) => passed === undefined || !comesFirst(passed, id)).sort((a, b) => comesFirst(a.id, b.id) ? -1 : 1)
    return { jobs: whole.map(({ queue, member }) => decode(queue, member)), passed }
  }

  async drop (queue: string, ids: readonly string[]): Promise<void> {
    // A member is the id, a space and more; `!` comes after the space. What tenants see of them goes when it is examined.
    await Promise.all(ids.map(id => this.#redis.zremrangebylex(createdKey(queue), `[${id} `, `(${id}!`)))
  }

  async #tidy (queue: string, tidying: { owed: number, after: string }): Promise<void> {
    const { owed, after } = tidying
    tidying.owed = 0
    const members = await this.#redis.zrangebylex(createdKey(queue), after === '' ? '-' : `(${after}`, '+', 'LIMIT', 0, owed)
    tidying.after = members.length < owed ? '' : members.at(-1) ?? ''
    const settled = serverTime(this.#redis) - settledMs
    const old = members.filter(member => createdAt(idOf(member)) < settled)
    if (old.length === 0) return
    const standings = await standingOf(this.#redis, queue, old.map(idOf))
    const gone = old.filter((_member, place) => standings[place] === 'gone')
    if (gone.length > 0) await this.#redis.zrem(createdKey(queue), ...gone)
  }
}

/** For a job that is about to be added. */
export function indexEntries ({ id, type, data, priority, maxAttempts }: Pick<CompleteJob, 'id' | 'type' | 'data' | 'priority' | 'maxAttempts'>): string[] {
  const { tool, tags, timeoutSec, callbackUrl = null, tenant, keyName } = data
  const fields: Entry = [type, tool, tags, priority, timeoutSec, maxAttempts, callbackUrl, tenant ?? null, keyName]
  const entry = `${id} ${JSON.stringify(fields)}`
  return tenant === undefined ? [entry] : [entry, stemOf(tenant) + entry]
}

type Entry = [string, string, string[], number, number, number, string | null, (string | null)?, string?]

function isEntry (value: unknown): value is Entry {
  const fields: readonly unknown[] = Array.isArray(value) ? value : []
  const [type, tool, tags, ...numbers] = fields
  return isTexts([type, tool]) && isTexts(tags) && numbers.slice(0, 3).every(number => typeof number === 'number')
}

function decode (queue: string, member: string): IndexedJob {
  const [type, tool, tags, priority, timeoutSec, maxAttempts, callbackUrl, tenant, keyName] =
    readStored('an entry in the index of jobs', member.slice(member.indexOf('[')), isEntry)
  const job = { id: idOf(member), queue, type, tool, tags, priority, timeoutSec, maxAttempts, keyName }
  return { ...job, callbackUrl: callbackUrl ?? undefined, tenant: tenant ?? undefined }
}

/** Behind all ids, and before what tenants see of them. Times may lie behind it: ids of the year 9999 begin with a letter. */
const behindIds = '@'

/** A member is the id, a space and more; `!` comes after the space. */
function rangeOf (stem: string, { order, since = '', before: asked = behindIds, passed }: IdSpan): IndexRange {
  const before = asked < behindIds ? asked : behindIds
  if (order === 'newest') return ['ZREVRANGEBYLEX', `(${stem}${passed ?? before}`, `[${stem}${since}`]
  return ['ZRANGEBYLEX', passed === undefined ? `[${stem}${since}` : `(${stem}${passed}!`, `(${stem}${before}`]
}

function stemOf (tenant: string | undefined): string {
  return tenant === undefined ? '' : `@${tenant} `
}

function idOf (member: string): string {
  const start = member.startsWith('@') ? member.indexOf(' ') + 1 : 0
  return member.slice(start, member.indexOf(' ', start))
}
