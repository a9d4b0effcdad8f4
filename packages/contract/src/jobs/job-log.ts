import type { Static } from 'typebox'
import { Type } from '../value/type.ts'
import { limits } from '../terms/limits.ts'
import { HttpError } from '../terms/errors.ts'

/** How grave a line of a job's log is; what tools write is `info`. */
const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = typeof logLevels[number]

/** One line of a job's log. `id` grows from line to line; `ts` is ISO 8601 in UTC. */
export const LogEntry = Type.Object({
  id: Type.String(),
  ts: Type.String(),
  level: Type.Enum([...logLevels]),
  message: Type.String(),
  meta: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()])
})
export type LogEntry = Static<typeof LogEntry>

/** `GET /v1/jobs/:id/logs`: the last lines, the oldest of them first. */
export const JobLogsResponse = Type.Object({
  ok: Type.Literal(true),
  logs: Type.Array(LogEntry),
  count: Type.Integer()
})
export type JobLogsResponse = Static<typeof JobLogsResponse>

/**
 * Reads `?tail=`.
 *
 * @returns how many lines are asked for; 200 when it is absent.
 * @throws HttpError `VALIDATION_ERROR` for anything but an integer 1..2000.
 */
export function readTail (text: unknown): number {
  const { min, max, default: fallback } = limits.logTail
  if (text === undefined) return fallback
  const tail = typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (!(tail >= min && tail <= max)) throw new HttpError('VALIDATION_ERROR', `'tail' must be an integer ${min}..${max}`)
  return tail
}
