import type { Static } from 'typebox'
import { Type } from '../value/type.ts'
import { invalid, HttpError } from '../terms/errors.ts'
import { unknownField } from '../value/fields.ts'
import { isRecord } from '../value/record.ts'
import { parseJobListQuery, type JobListQuery } from './job-list-query.ts'

const bulkActions = ['cancel', 'run_again'] as const
export type BulkAction = typeof bulkActions[number]

const Filter = Type.Record(Type.String(), Type.String(), {
  description: 'What `GET /v1/jobs` filters by, at least one: `status`, `type`, `queue`, `tag`, `tool`, `key`, `code`, `worker`, `text`, `session`, `request`, `tenant`, `from`, `to`.'
})

/** `POST /v1/bulk`. */
export const BulkRequest = Type.Object({ action: Type.Enum([...bulkActions]), filter: Filter }, { additionalProperties: false })
export type BulkRequest = Static<typeof BulkRequest>

/** A change of all jobs that fit a filter, and how far it is. */
export const BulkView = Type.Object({
  id: Type.String(),
  action: Type.Enum([...bulkActions]),
  filter: Filter,
  state: Type.Enum(['running', 'done', 'stopped']),
  key: Type.String({ description: 'The name of the API key that began it.' }),
  tenant: Type.Optional(Type.String()),
  total: Type.Union([Type.Integer(), Type.Null()], { description: 'Jobs that fitted when it began; null for more than 10,000.' }),
  seen: Type.Integer({ description: 'Of these, jobs that it has come to.' }),
  changed: Type.Integer({ description: 'Of these, jobs that were cancelled or wait for their next run.' }),
  created_at: Type.String(),
  finished_at: Type.Union([Type.String(), Type.Null()])
})
export type BulkView = Static<typeof BulkView>

/** `POST /v1/bulk`, `GET /v1/bulk/:id` and `POST /v1/bulk/:id/stop`. */
export const BulkResponse = Type.Object({ ok: Type.Literal(true), bulk: BulkView })
/** `GET /v1/bulk`: newest first. */
export const BulkList = Type.Object({ ok: Type.Literal(true), bulks: Type.Array(BulkView), count: Type.Integer() })

const count = Type.Integer({ minimum: 0 })
/** `GET /v1/jobs/counts`. */
export const JobCounts = Type.Object({
  ok: Type.Literal(true),
  total: count,
  states: Type.Object({
    queued: count, held: count, running: count, input_required: count, succeeded: count, failed: count, cancelled: count
  }),
  complete: Type.Boolean({ description: 'False when there are more: it is counted to 10,000.' })
})
export type JobCounts = Static<typeof JobCounts>

/**
 * Checks the body of `POST /v1/bulk`.
 *
 * @returns undefined for a good body, else `VALIDATION_ERROR` with the text of the first error.
 */
export function checkBulkRequest (body: unknown): HttpError | undefined {
  if (!isRecord(body)) return invalid('Request body must be an object')
  const { action, filter } = body
  if (!bulkActions.some(known => known === action)) return invalid(`'action' must be one of: ${bulkActions.join(', ')}`)
  if (!isRecord(filter) || Array.isArray(filter)) return invalid("'filter' must be an object")
  const unknown = unknownField(body, BulkRequest)
  if (unknown !== undefined) return invalid(unknown)
  try {
    bulkQuery(filter)
  } catch (error) {
    if (error instanceof HttpError) return error
    throw error
  }
  return undefined
}

/**
 * The query that a filter stands for.
 *
 * @throws HttpError `VALIDATION_ERROR`
 */
export function bulkQuery (filter: Readonly<Record<string, unknown>>): JobListQuery {
  const names = Object.keys(filter)
  if (names.length === 0) throw invalid("'filter' must name at least one of the parameters that jobs are listed by")
  const ofPages = names.find(name => name === 'cursor' || name === 'limit' || name === 'order' || name === 'preview')
  if (ofPages !== undefined) throw invalid(`'filter' has no '${ofPages}': all jobs are meant that fit`)
  return parseJobListQuery(filter)
}
