import { HttpError } from '../terms/errors.ts'
import { jobStates, type JobState } from './jobs.ts'
import { isQueueName, limits, queueNamePattern } from '../terms/limits.ts'

/** The parameters of `GET /v1/jobs`, checked (RC24). */
export interface JobListQuery {
  status?: JobState
  type?: string
  queue?: string
  tag?: string
  /** Jobs of this tenant alone. */
  tenant?: string
  limit: number
  /** From the answer to the same query; opaque. */
  cursor?: string
}

const known = ['status', 'type', 'queue', 'tag', 'tenant', 'limit', 'cursor'] as const

/**
 * Reads the query string of `GET /v1/jobs`, which has each parameter at most once.
 *
 * @throws HttpError `VALIDATION_ERROR` for anything that isn't as documented: no parameter is guessed or ignored.
 */
export function parseJobListQuery (query: Readonly<Record<string, unknown>>): JobListQuery {
  const unknown = Object.keys(query).find(name => !known.some(other => other === name))
  if (unknown !== undefined) throw invalid(`'${unknown.slice(0, 80)}' is not a known parameter (known: ${known.map(name => `'${name}'`).join(', ')})`)
  const status = text(query, 'status')
  const queue = text(query, 'queue')
  if (status !== undefined && !isState(status)) throw invalid(`'status' must be one of: ${jobStates.join(', ')}`)
  if (queue !== undefined && !isQueueName(queue)) throw invalid(`'queue' must match ${queueNamePattern}`)
  const type = text(query, 'type')
  const tag = text(query, 'tag')
  const tenant = text(query, 'tenant')
  const cursor = text(query, 'cursor')
  return {
    limit: pageSize(text(query, 'limit')),
    ...(status === undefined ? {} : { status }),
    ...(type === undefined ? {} : { type }),
    ...(queue === undefined ? {} : { queue }),
    ...(tag === undefined ? {} : { tag }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(cursor === undefined ? {} : { cursor })
  }
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

function isState (value: string): value is JobState {
  return jobStates.some(state => state === value)
}

function invalid (message: string): HttpError {
  return new HttpError('VALIDATION_ERROR', message)
}
