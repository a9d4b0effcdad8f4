import { invalid } from '../terms/errors.ts'
import type { Static } from 'typebox'
import { Type } from '../value/type.ts'
import { isTenantName, limits } from '../terms/limits.ts'
import { unknownParameter } from '../value/fields.ts'

const Quantiles = Type.Object({
  p50: Type.Union([Type.Number(), Type.Null()]),
  p95: Type.Union([Type.Number(), Type.Null()])
}, { description: 'Milliseconds that half, and 95 %, stay below, to a fifth; null without a call.' })

const counts = {
  calls: Type.Integer({ description: 'Runs that ended; a job that is run three times counts three times.' }),
  errors: Type.Integer({ description: 'Of these, those that failed.' }),
  cancelled: Type.Integer({ description: 'Of these, those that were cancelled while they ran.' }),
  waiting_ms: Quantiles,
  running_ms: Quantiles
}

/** Calls of a span of time. */
const Counts = Type.Object({
  ...counts,
  error_rate: Type.Union([Type.Number(), Type.Null()], { description: 'Errors of all calls, 0 to 1; null without a call.' }),
  calls_per_minute: Type.Number()
})

/** The calls of one tool, queue or key. */
export const StatisticsEntry = Type.Object({
  name: Type.Union([Type.String(), Type.Null()], { description: 'Null for those together that are too many to be counted by themselves.' }),
  ...Counts.properties
})
export type StatisticsEntry = Static<typeof StatisticsEntry>

/** Calls of one tool for one key. */
export const UsageEntry = Type.Object({
  tool: Type.Union([Type.String(), Type.Null()]),
  key: Type.Union([Type.String(), Type.Null()], { description: 'Null, as the tool, for the rest of those that are too many.' }),
  tenant: Type.Optional(Type.String()),
  calls: Type.Integer(),
  seconds: Type.Number({ description: 'That the calls ran.' }),
  processor_seconds: Type.Number({ description: 'Processor time of the processes of the calls, an estimate from looks at them twice a second; 0 for tools that have none (built-in, HTTP and MCP tools).' }),
  output_bytes: Type.Integer({ description: 'Of the outputs, as JSON.' })
})
export type UsageEntry = Static<typeof UsageEntry>

/** `GET /v1/stats`. Times are those of Redis. */
export const Statistics = Type.Object({
  ok: Type.Literal(true),
  from: Type.String({ description: 'A full minute; a full hour where more than two hours are asked for.' }),
  to: Type.String(),
  total: Counts,
  tools: Type.Array(StatisticsEntry),
  queues: Type.Array(StatisticsEntry),
  keys: Type.Array(StatisticsEntry),
  minutes: Type.Array(Type.Object({ at: Type.String({ description: 'When the minute began.' }), ...counts }), {
    description: 'Minutes in which calls ended, of the tool, queue or key that was asked for, else of all; the oldest first.'
  }),
  jobs: Type.Optional(Type.Array(Type.Object({
    at: Type.String({ description: 'When the minute began.' }),
    running: Type.Integer(),
    waiting: Type.Integer()
  }), { description: 'Jobs of all queues that ran and that waited, as they were last seen in each minute; the oldest first. Absent where one tenant, tool, queue or key is asked for, and for keys that see only some.' })),
  usage: Type.Array(UsageEntry, { description: 'Since the full hour before `from`.' })
})
export type Statistics = Static<typeof Statistics>

export interface StatisticsQuery {
  minutes: number
  tenant?: string
  /** All calls when absent. */
  of?: { dimension: 'tool' | 'queue' | 'key', name: string }
}

const dimensions = ['tool', 'queue', 'key'] as const
const known: readonly string[] = ['minutes', 'tenant', ...dimensions]

/**
 * Reads the query string of `GET /v1/stats`.
 *
 * @throws HttpError `VALIDATION_ERROR`
 */
export function parseStatisticsQuery (query: Readonly<Record<string, unknown>>): StatisticsQuery {
  const unknown = unknownParameter(query, known)
  if (unknown !== undefined) throw invalid(unknown)
  const given: Record<string, string> = {}
  for (const [name, value] of Object.entries(query)) {
    if (typeof value !== 'string' || value === '') throw invalid(`'${name}' must be given once, with a value`)
    given[name] = value
  }
  const { minutes = String(limits.statisticsMinutes.default), tenant } = given
  const { min, max } = limits.statisticsMinutes
  if (!/^\d{1,4}$/.test(minutes) || Number(minutes) < min || Number(minutes) > max) throw invalid(`'minutes' must be an integer ${min}..${max}`)
  if (tenant !== undefined && !isTenantName(tenant)) throw invalid("'tenant' is not the name of a tenant")
  const [dimension, ...more] = dimensions.filter(name => given[name] !== undefined)
  if (more.length > 0) throw invalid("Of 'tool', 'queue' and 'key' only one can be given")
  return {
    minutes: Number(minutes),
    ...(tenant === undefined ? {} : { tenant }),
    ...(dimension === undefined ? {} : { of: { dimension, name: given[dimension] ?? '' } })
  }
}
