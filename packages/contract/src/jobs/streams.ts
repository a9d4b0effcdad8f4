import { firstChars } from '../value/first-chars.ts'
import type { Static } from 'typebox'
import { Type } from '../value/type.ts'
import { CallResult, InvokeBatchResponse, ToolMessage } from '../calls/agent-tools.ts'
import { HttpError } from '../terms/errors.ts'
import { LogEntry } from './job-log.ts'
import { JobView, ProgressView } from './jobs.ts'
import { jobStates } from './job-states.ts'

export const streamTokenParam = 'stream_token'

/** The data of each event of `GET /v1/jobs/:id/stream`, by its name. */
export const JobStreamEvents = {
  job_update: Type.Object({ job: JobView }),
  /** The event's id is the line's. */
  log_append: LogEntry,
  /** The tool tells how far it is; the last one is in `job_update` too. */
  progress: Type.Object({ progress: ProgressView }),
  /** The last event: the job has its final status, or its record was removed by retention. */
  end: Type.Union([
    Type.Object({ reason: Type.Literal('finished'), status: Type.Enum([...jobStates]) }),
    Type.Object({ reason: Type.Literal('deleted') })
  ])
} as const

/** The data of each event of `invoke-batch` with `Accept: text/event-stream`, by its name. */
export const BatchStreamEvents = {
  /** One call's answer; `index` is its place in the request. Async batches have none. */
  call_result: Type.Object({ index: Type.Integer(), result: CallResult, tool_message: ToolMessage }),
  /** The body that the JSON answer would have had. */
  end: InvokeBatchResponse
} as const

const jobIdPattern = '^[a-z0-9._:-]{1,120}$'

/** `POST /v1/auth/sse-token`; a body may be left out. */
export const SseTokenRequest = Type.Object({
  job_id: Type.Optional(Type.Union([Type.String({ pattern: jobIdPattern }), Type.Null()]))
}, { additionalProperties: false })
export type SseTokenRequest = Static<typeof SseTokenRequest>

/** A ticket for event streams, to be sent as the query parameter that `token_param` names. */
export const SseTokenResponse = Type.Object({
  ok: Type.Literal(true),
  token: Type.String(),
  token_param: Type.Literal(streamTokenParam),
  ttl_sec: Type.Integer(),
  expires_at: Type.String(),
  job_id: Type.Union([Type.String(), Type.Null()])
})
export type SseTokenResponse = Static<typeof SseTokenResponse>

const jobId = new RegExp(jobIdPattern)

/**
 * Checks the body of `sse-token`.
 *
 * @returns the job that the ticket shall be for; null when it is for every job that the key may see.
 * @throws HttpError `VALIDATION_ERROR`
 */
export function readSseTokenRequest (body: unknown): string | null {
  if (body === undefined || body === null) return null
  if (typeof body !== 'object' || Array.isArray(body)) throw new HttpError('VALIDATION_ERROR', 'Request body must be an object')
  const unknown = Object.keys(body).find(key => key !== 'job_id')
  if (unknown !== undefined) throw new HttpError('VALIDATION_ERROR', `'${firstChars(unknown, 80)}' is not a known field (known: 'job_id')`)
  const id: unknown = 'job_id' in body ? body.job_id : null
  if (id === null) return null
  if (typeof id !== 'string' || !jobId.test(id)) throw new HttpError('VALIDATION_ERROR', `'job_id' must match ${jobIdPattern}`)
  return id
}
