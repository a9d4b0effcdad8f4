import { invalid, callErrors, type CallErrorCode } from '../terms/errors.ts'
import { jobOrders, jobStates, type JobState } from './job-states.ts'
import { isQueueName, limits, queueNamePattern } from '../terms/limits.ts'
import { unknownParameter } from '../value/fields.ts'
import { withoutUndefined } from '../value/record.ts'

export interface JobListQuery {
  status?: JobState
  type?: string
  queue?: string
  tag?: string
  tool?: string
  /** The name of the API key that submitted it. */
  key?: string
  code?: CallErrorCode
  /** The id of the worker that ran it last. */
  worker?: string
  /** In its arguments or its error; upper and lower case of ASCII letters are the same. */
  text?: string
  /** The session whose files were its workspace. */
  session?: string
  /** The id of the request that made it: jobs of one batch have the same. */
  request?: string
  /** When it was created at the earliest, and at the latest, in milliseconds since 1970. */
  from?: number
  to?: number
  /** Jobs of this tenant alone. */
  tenant?: string
  /** By when they were created; the newest first when absent. */
  order?: JobOrder
  limit: number
  /** Whether each job has the beginning of its arguments. */
  preview?: boolean
  /** From the answer to the same query; opaque. */
  cursor?: string
}

export type JobOrder = typeof jobOrders[number]

const texts = ['type', 'tag', 'tool', 'key', 'worker', 'text', 'session', 'request', 'tenant', 'cursor'] as const
const known = ['status', 'queue', 'code', 'from', 'to', 'order', 'limit', 'preview', ...texts] as const
/** The latest time that an id can have. */
const maxTime = 2 ** 48 - 2

/**
 * Reads the query string of `GET /v1/jobs`, which has each parameter at most once.
 *
 * @throws HttpError `VALIDATION_ERROR` for anything that isn't as documented: no parameter is guessed or ignored.
 */
export function parseJobListQuery (query: Readonly<Record<string, unknown>>): JobListQuery {
  const unknown = unknownParameter(query, known)
  if (unknown !== undefined) throw invalid(unknown)
  const status = text(query, 'status')
  const queue = text(query, 'queue')
  if (status !== undefined && !isState(status)) throw invalid(`'status' must be one of: ${jobStates.join(', ')}`)
  if (queue !== undefined && !isQueueName(queue)) throw invalid(`'queue' must match ${queueNamePattern}`)
  const code = text(query, 'code')
  if (code !== undefined && !isCode(code)) throw invalid(`'code' must be one of: ${Object.keys(callErrors).join(', ')}`)
  const order = text(query, 'order')
  if (order !== undefined && !isOrder(order)) throw invalid(`'order' must be one of: ${jobOrders.join(', ')}`)
  const preview = text(query, 'preview')
  if (preview !== undefined && preview !== 'true' && preview !== 'false') throw invalid("'preview' must be true or false")
  const from = time(query, 'from')
  const to = time(query, 'to')
  if (from !== undefined && to !== undefined && from > to) throw invalid("'from' must not be later than 'to'")
  if ((text(query, 'text')?.length ?? 0) > limits.searchChars) throw invalid(`'text' must have at most ${limits.searchChars} characters`)
  return {
    limit: pageSize(text(query, 'limit')),
    ...withoutUndefined({ status, queue, code, order, from, to }),
    ...(preview === 'true' ? { preview: true } : {}),
    ...withoutUndefined(Object.fromEntries(texts.map(name => [name, text(query, name)])))
  }
}

function time (query: Readonly<Record<string, unknown>>, name: string): number | undefined {
  const value = text(query, name)
  if (value === undefined) return undefined
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/.test(value) ? Date.parse(value) : NaN
  if (!(ms >= 0 && ms <= maxTime)) throw invalid(`'${name}' must be a time such as 2026-01-31T12:00:00Z`)
  const day = value.slice(0, 10)
  // `Date` takes 30 February as 2 March.
  if (!new Date(day).toISOString().startsWith(day)) throw invalid(`'${name}' is a day that there is not: ${day}`)
  return ms
}

function isCode (value: string): value is CallErrorCode {
  return Object.hasOwn(callErrors, value)
}

function text (query: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = query[name]
  if (value !== undefined && (typeof value !== 'string' || value === '')) throw invalid(`'${name}' must be given once, with a value`)
  return value
}

function pageSize (value: string | undefined): number {
  if (value === undefined) return limits.jobPage.default
  const size = /^\d{1,4}$/.test(value) ? Number(value) : 0
  if (size < limits.jobPage.min || size > limits.jobPage.max) throw invalid(`'limit' must be an integer ${limits.jobPage.min}..${limits.jobPage.max}`)
  return size
}

function isOrder (value: string): value is JobOrder {
  return jobOrders.some(order => order === value)
}

function isState (value: string): value is JobState {
  return jobStates.some(state => state === value)
}
