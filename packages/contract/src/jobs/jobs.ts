import type { Static } from 'typebox'
import { Type } from '../value/type.ts'
import { CallErrorBody, resultFileFields } from '../calls/agent-tools.ts'
import { QuestionView } from '../calls/question.ts'
import { jobStates } from './job-states.ts'

/** How well processes are shut in, and the layers of the box that don't hold. */
export const SandboxView = Type.Object({ level: Type.Enum(['full', 'partial', 'none']), missing: Type.Array(Type.String()) })

export const ProgressView = Type.Object({
  done: Type.Number({ minimum: 0 }),
  total: Type.Union([Type.Number({ minimum: 0 }), Type.Null()]),
  text: Type.Union([Type.String(), Type.Null()])
}, { description: 'How far it is, by its tool; absent for a tool that tells nothing.' })

const Decision = Type.Object({
  key: Type.String({ description: 'The name of the API key that decided.' }),
  decision: Type.Enum(['approve', 'deny']),
  reason: Type.Union([Type.String(), Type.Null()]),
  at: Type.String(),
  revoked: Type.Optional(Type.Literal(true, { description: 'Its key was revoked, or may not decide any more, before the call was approved: it doesn\'t count.' }))
})

export const ApprovalView = Type.Object({
  state: Type.Enum(['held', 'approved', 'denied', 'expired']),
  digest: Type.String({ description: 'Names what will run: a decision must come with it.' }),
  reason: Type.Union([Type.String(), Type.Null()], { description: 'Why it is held: of the rule.' }),
  rule: Type.Union([Type.String(), Type.Null()], { description: 'The expression of the rule; null for a tool that always needs an approval.' }),
  approvers: Type.Integer({ description: 'How many keys must approve.' }),
  by: Type.Union([Type.Array(Type.String()), Type.Null()], { description: 'The only keys that may decide; null for every key with the role approver or admin.' }),
  self: Type.Boolean({ description: 'Whether the key that submitted the call may decide, too.' }),
  held_at: Type.String(),
  expires_at: Type.String(),
  changed: Type.Union([Type.String(), Type.Null()], { description: 'Why it is held again: what changed after it was approved.' }),
  decisions: Type.Array(Decision)
})
export type ApprovalView = Static<typeof ApprovalView>

/** A job as the API shows it. Times are ISO 8601 in UTC. `result` is whole, never truncated for a model. */
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
  depends_on: Type.Optional(Type.Array(Type.String(), { description: 'Ids of the jobs that must succeed before this one runs.' })),
  parent_id: Type.Optional(Type.String({ description: 'The workflow that this job is a step of.' })),
  tenant: Type.Optional(Type.String({ description: 'The tenant whose key submitted the job; absent for a key without a tenant.' })),
  key: Type.Union([Type.String(), Type.Null()], { description: 'The name of the API key that submitted it.' }),
  worker: Type.Union([Type.String(), Type.Null()], {
    description: 'The id of the worker that ran it last, as in `GET /v1/workers`; null before it ran, where the worker that ran it was lost, and for an older worker.'
  }),
  progress: Type.Optional(ProgressView),
  approval: Type.Optional(ApprovalView),
  question: Type.Optional(QuestionView),
  session: Type.Optional(Type.String({ description: 'The session whose files are its workspace.' })),
  conversation: Type.Optional(Type.String({ description: 'What the caller calls the conversation that it belongs to.' })),
  request: Type.Optional(Type.String({ description: 'The id of the request that made it: jobs of one batch have the same.' })),
  input: Type.Unknown(),
  input_preview: Type.Optional(Type.String({ description: 'How `input` begins, as JSON; in lists that are asked for with `preview=true`.' })),
  result: Type.Unknown(),
  result_truncated: Type.Optional(Type.Object({ bytes: Type.Integer(), stored_bytes: Type.Integer() }, {
    description: 'The tool wrote more than is kept: the bytes it wrote, and how many of them are in result.'
  })),
  ...resultFileFields,
  sandbox: Type.Union([SandboxView, Type.Null()], { description: 'How well its processes were shut in; null for a job that ran none, or has not ended.' }),
  error: Type.Union([Type.Intersect([CallErrorBody, Type.Object({ at: Type.String() })]), Type.Null()]),
  created_at: Type.String(),
  due_at: Type.Optional(Type.String({ description: 'When a job with `delay_ms` is due; absent from then on.' })),
  updated_at: Type.String(),
  started_at: Type.Union([Type.String(), Type.Null()], { description: 'When its last run began; null while it waits, and without a run.' }),
  finished_at: Type.Union([Type.String(), Type.Null()], { description: 'When it ended.' }),
  waited_ms: Type.Union([Type.Integer(), Type.Null()], {
    description: 'From when it was due (submitted, and `delay_ms` over) until its run began; null for a job that was run more than once.'
  }),
  ran_ms: Type.Union([Type.Integer(), Type.Null()], { description: 'How long its last run took; null before it has ended.' })
})
export type JobView = Static<typeof JobView>

/** `GET /v1/jobs/:id`. */
export const JobResponse = Type.Object({ ok: Type.Literal(true), job: JobView })
export type JobResponse = Static<typeof JobResponse>

/** `DELETE /v1/jobs/:id`. */
export const RemovedJob = Type.Object({ ok: Type.Literal(true), id: Type.String() })

/** `POST /v1/jobs`; `idempotent` when an earlier request with the same `Idempotency-Key` made the job. */
export const SubmitJobResponse = Type.Object({ ok: Type.Literal(true), job: JobView, idempotent: Type.Boolean() })
export type SubmitJobResponse = Static<typeof SubmitJobResponse>

/** A job in a list: without what can be large, or needs more than its record, and is read at `GET /v1/jobs/:id`. */
export const JobSummary = Type.Omit(JobView, [
  'depends_on', 'approval', 'question', 'conversation', 'session', 'request', 'input', 'result', 'result_truncated', 'files', 'more_files', 'sandbox'
])
export type JobSummary = Static<typeof JobSummary>

/** `GET /v1/jobs`: newest first, unless `order` says otherwise. `next_cursor` is null when there are no more. */
export const JobList = Type.Object({
  ok: Type.Literal(true),
  jobs: Type.Array(JobSummary),
  count: Type.Integer(),
  next_cursor: Type.Union([Type.String(), Type.Null()])
})
export type JobList = Static<typeof JobList>
