import { Type, type Static } from 'typebox'
import { CallErrorBody } from './agent-tools.ts'

export const jobStates = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const
export type JobState = typeof jobStates[number]

/** A job as the API shows it (RC21). Times are ISO 8601 in UTC. `result` is whole, never truncated for a model. */
export const JobView = Type.Object({
  id: Type.String(),
  type: Type.String(),
  tool: Type.String(),
  queue: Type.String(),
  status: Type.Enum([...jobStates]),
  priority: Type.Integer(),
  timeout_sec: Type.Number(),
  attempts: Type.Integer(),
  max_attempts: Type.Integer(),
  callback_url: Type.Union([Type.String(), Type.Null()]),
  tags: Type.Array(Type.String()),
  input: Type.Unknown(),
  result: Type.Unknown(),
  result_truncated: Type.Optional(Type.Object({ bytes: Type.Integer(), stored_bytes: Type.Integer() }, {
    description: 'The tool wrote more than is kept: the bytes it wrote, and how many of them are in result.'
  })),
  error: Type.Union([Type.Intersect([CallErrorBody, Type.Object({ at: Type.String() })]), Type.Null()]),
  created_at: Type.String(),
  updated_at: Type.String()
})
export type JobView = Static<typeof JobView>

/** `GET /v1/jobs/:id`. */
export const JobResponse = Type.Object({ ok: Type.Literal(true), job: JobView })
export type JobResponse = Static<typeof JobResponse>
