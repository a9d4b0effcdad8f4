import type { Static } from 'typebox'
import { Type } from '../value/type.ts'
import { jobStates } from './job-states.ts'

export const JobStep = Type.Object({
  name: Type.String(),
  tool: Type.String(),
  type: Type.String(),
  queue: Type.String(),
  needs: Type.Array(Type.String(), { description: 'The steps that it waits for.' }),
  job_id: Type.Union([Type.String(), Type.Null()], { description: 'Its job; null before it is made.' }),
  status: Type.Enum(['waiting', ...jobStates], { description: '`waiting` before its job is made.' }),
  created_at: Type.Union([Type.String(), Type.Null()], { description: 'When its job was made: since then it waited.' }),
  started_at: Type.Union([Type.String(), Type.Null()]),
  finished_at: Type.Union([Type.String(), Type.Null()]),
  ran_ms: Type.Union([Type.Integer(), Type.Null()])
})
export type JobStep = Static<typeof JobStep>

/** `GET /v1/jobs/:id/steps`: those of the last run of a workflow; none for another job, or before it has planned them. */
export const JobSteps = Type.Object({
  ok: Type.Literal(true),
  workflow: Type.Union([Type.String(), Type.Null()]),
  steps: Type.Array(JobStep),
  count: Type.Integer()
})
export type JobSteps = Static<typeof JobSteps>
