import { firstIdAt, jobIdPattern, type JobScope, type Redis, fromRedis, jobKey, pipelined } from '@toolyard/store'
import { createHash } from 'node:crypto'
import type { JobCounts, JobListQuery, JobSummary } from '@toolyard/contract'
import { foreignCursor, writeJson } from '@toolyard/contract/terms'
import type { IndexedJob, JobIndex } from '../record/job-index.ts'
import type { JobQueues } from '../queues/job-queues.ts'
import type { QueueDirectory } from '../queues/queue-directory.ts'
import { withPreviews } from './argument-previews.ts'
import { summarize } from './job-summary.ts'
import { ListShare } from './list-share.ts'
import { mapInTurns, OwnerTurns } from '@toolyard/runtime'
import { hasText, looksForText } from '../record/job-text.ts'

/** The cursor doesn't belong to this query: it is damaged, made up, or came with the answer to another one. */
export class CursorError extends Error {
  override readonly name = 'CursorError'
}

export interface JobPage {
  jobs: JobSummary[]
  /** Where the next page begins; null when there is none. */
  nextCursor: string | null
}

/** The JSON of a list in pieces, each made in a turn of its own: 200 failures with large details take 0.1 s and more. */
export async function listJson (items: readonly unknown[]): Promise<Buffer[]> {
  const pieces = await mapInTurns(items, (item, at) => Buffer.from(`${at === 0 ? '' : ','}${writeJson(item)}`))
  return [Buffer.from('['), ...pieces, Buffer.from(']')]
}

/** Jobs that are counted at most, and some of the last page. */
const mostCounted = 10_000
/** Jobs that are read at once. */
const chunkSize = 200
/** The time in an id may be so many milliseconds before or after its job's own: it is made first, and goes back later than the clock. */
const idLeadMs = 60_000
const idLagMs = 2_000

/** Pieces of the index that one page looks at, of 1,000 jobs of each queue; a page may be short, or empty, and still have a next one. */
const maxLooks = 120

/** Pieces that are read at once: one that looks for a text reads up to a megabyte, and Redis does one command at a time. */
const piecesAtOnce = 2
/** How long the turn of a piece may take to come, in milliseconds. */
export const listPatienceMs = 10_000

/** Who asks for a list. */
export interface Asker {
  /** The tenant, or the key where it has none. */
  owner: string
  /** Aborted when nobody waits for it any more. */
  signal?: AbortSignal
}

export const nobody: Asker = { owner: '' }

interface JobListerParts {
  redis: Redis
  directory: QueueDirectory
  queues: JobQueues
}

/**
 * Lists jobs, newest first, or oldest first. A cursor is the id of the last job that was looked at: jobs that arrive
 * shift nothing, and a job that goes away leaves no gap. Lists are read a piece at a time, and owners take turns: who asks for
 * many, or for one that takes long, holds up neither calls nor lists of others.
 */
export class JobLister {
  readonly #parts: JobListerParts
  readonly #turns = new OwnerTurns(piecesAtOnce)
  readonly #share = new ListShare()

  constructor (parts: JobListerParts) {
    this.#parts = parts
  }

  /**
   * Counts jobs, up to 10,000.
   *
   * @throws TurnMissedError; RedisUnavailableError.
   */
  async count (
    { limit: _, cursor: __, order: ___, preview: ____, ...query }: JobListQuery, scope: JobScope = {}, asker = nobody
  ): Promise<Omit<JobCounts, 'ok'>> {
    const states: JobCounts['states'] = { queued: 0, held: 0, running: 0, input_required: 0, succeeded: 0, failed: 0, cancelled: 0 }
    let total = 0
    for (let cursor: string | undefined; ;) {
      const place = cursor === undefined ? {} : { cursor }
      const { jobs, nextCursor } = await this.list({ ...query, limit: chunkSize, ...place }, scope, asker)
      for (const { status } of jobs) states[status] += 1
      total += jobs.length
      if (nextCursor === null || total >= mostCounted) return { total, states, complete: nextCursor === null }
      cursor = nextCursor
    }
  }

  /**
   * @throws CursorError; TurnMissedError; RedisUnavailableError.
   */
  async list (query: JobListQuery, scope: JobScope = {}, asker = nobody): Promise<JobPage> {
    const { preview, ...filters } = query
    const page = await this.#list(filters, scope, asker)
    if (preview !== true) return page
    return { ...page, jobs: await this.#turn(asker, async () => await withPreviews(this.#parts.redis, page.jobs)) }
  }

  async #turn<T> ({ owner, signal }: Asker, piece: () => Promise<T>): Promise<T> {
    const patience = { ms: listPatienceMs, ...(signal === undefined ? {} : { signal }) }
    await this.#share.rest(owner, patience)
    return await this.#turns.run(owner, async () => {
      const begun = performance.now()
      return await piece().finally(() => { this.#share.note(owner, performance.now() - begun) })
    }, patience)
  }

  async #list (query: JobListQuery, scope: JobScope, asker: Asker): Promise<JobPage> {
    if (scope.tenant !== undefined && scope.tenant !== (query.tenant ?? scope.tenant)) return { jobs: [], nextCursor: null }
    const { limit } = query
    // Reading records takes most of the time: where the index is enough, only as many are read as the page may need.
    const isOfRecords = looksForText(query) || [query.status, query.code, query.worker].some(filter => filter !== undefined)
    let atOnce = isOfRecords ? chunkSize : Math.min(limit, chunkSize)
    const since = query.from === undefined ? undefined : firstIdAt(Math.max(0, query.from - idLeadMs))
    const before = query.to === undefined ? undefined : firstIdAt(query.to + idLagMs)
    const order = query.order ?? 'newest'
    let passed = query.cursor === undefined ? undefined : positionOf(query.cursor, query)
    const queues = await this.#queues(query.queue, scope.queues)
    const tenant = query.tenant ?? scope.tenant
    const jobs: JobSummary[] = []
    for (let looks = 0; looks < maxLooks; looks++) {
      const span = { order, since, before, passed }
      const look = async (): ReturnType<JobIndex['find']> => await this.#parts.queues.index.find(queues, span, query, tenant)
      const { jobs: found, passed: end } = await this.#turn(asker, look)
      const candidates = found.filter(job => fits(job, query))
      for (let at = 0; at < candidates.length;) {
        const some = candidates.slice(at, at + atOnce)
        at += atOnce
        // Many of them may be gone.
        atOnce = Math.min(2 * atOnce, chunkSize)
        const fitting = async (): Promise<readonly JobSummary[]> => {
          const summaries = await summarize(this.#parts, some)
          return await this.#withTexts(summaries.filter(job => isFitting(job, query)), query)
        }
        for (const job of await this.#turn(asker, fitting)) {
          jobs.push(job)
          if (jobs.length < limit) continue
          const isLast = end === undefined && candidates.at(-1)?.id === job.id
          return { jobs, nextCursor: isLast ? null : cursorAt(job.id, query) }
        }
      }
      if (end === undefined) return { jobs, nextCursor: null }
      passed = end
    }
    return { jobs, nextCursor: passed === undefined ? null : cursorAt(passed, query) }
  }

  /** Those that have the texts which are looked for. */
  async #withTexts (jobs: readonly JobSummary[], query: JobListQuery): Promise<readonly JobSummary[]> {
    if (!looksForText(query) || jobs.length === 0) return jobs
    const replies = await pipelined(this.#parts.redis, jobs, job => job.queue, (pipeline, { queue, id }) => {
      pipeline.hmget(jobKey(queue, id), 'data', 'failedReason')
    })
    const found = await mapInTurns(replies, reply => {
      if (reply instanceof Error) throw reply
      const [[data, reason]] = fromRedis<[[string | null, string | null]]>(reply)
      return data !== null && hasText(data, reason ?? undefined, query)
    })
    return jobs.filter((_job, place) => found[place])
  }

  async #queues (asked: string | undefined, allowed: readonly string[] | undefined): Promise<string[]> {
    const known = await this.#parts.directory.list()
    return known.filter(queue => (asked ?? queue) === queue && (allowed?.includes(queue) ?? true))
  }
}

/** Filters that the index answers. */
function fits (job: IndexedJob, { type, tag, tool, key }: JobListQuery): boolean {
  return (type === undefined || job.type === type) && (tag === undefined || job.tags.includes(tag)) &&
    (tool === undefined || job.tool === tool) && (key === undefined || job.keyName === key)
}

/** Filters that need the record. */
function isFitting (job: JobSummary, { status, code, worker, from = -Infinity, to = Infinity }: JobListQuery): boolean {
  const createdAt = Date.parse(job.created_at)
  return createdAt >= from && createdAt <= to && (status === undefined || job.status === status) &&
    (code === undefined || job.error?.code === code) && (worker === undefined || job.worker === worker)
}

function cursorAt (id: string, query: JobListQuery): string {
  return Buffer.from(`${id} ${filtersOf(query)}`).toString('base64url')
}

function positionOf (cursor: string, query: JobListQuery): string {
  const [id = '', filters] = Buffer.from(cursor, 'base64url').toString().split(' ')
  if (!jobIdPattern.test(id) || filters !== filtersOf(query)) throw new CursorError(foreignCursor)
  return id
}

/** The size of a page may change from page to page, the filters and the order may not. */
function filtersOf ({ limit: _, cursor: __, order, ...filters }: JobListQuery): string {
  // The newest first is what a list without an order is.
  const sorted = Object.entries({ ...filters, ...(order === 'oldest' ? { order } : {}) }).sort(([a], [b]) => a < b ? -1 : 1)
  return createHash('sha256').update(JSON.stringify(sorted)).digest('base64url').slice(0, 16)
}
