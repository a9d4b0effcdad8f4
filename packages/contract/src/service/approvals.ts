import type { Static } from 'typebox'
import { Type } from '../value/type.ts'
import { ApprovalView } from '../jobs/jobs.ts'
import { checkObject, type HttpError } from '../terms/errors.ts'
import { limits } from '../terms/limits.ts'
import { unknownField } from '../value/fields.ts'

/** Who asks for which call. */
const about = {
  job_id: Type.String(),
  tool: Type.String(),
  type: Type.String(),
  queue: Type.String(),
  key: Type.Union([Type.String(), Type.Null()], { description: 'The name of the API key that submitted the call.' }),
  tenant: Type.Union([Type.String(), Type.Null()]),
  session: Type.Union([Type.String(), Type.Null()]),
  conversation: Type.Union([Type.String(), Type.Null()]),
  parent_id: Type.Optional(Type.String({ description: 'The workflow that it is a step of.' })),
  submitted_at: Type.String(),
  status: Type.String({ description: 'Of the job, as in `GET /v1/jobs/:id`.' })
}

export const ApprovalItem = Type.Object({
  ...about,
  arguments_preview: Type.String({ description: `The JSON of its arguments, the first ${limits.previewChars} characters.` }),
  approval: ApprovalView
})
export type ApprovalItem = Static<typeof ApprovalItem>

/** `GET /v1/approvals`: the newest first. */
export const ApprovalList = Type.Object({
  ok: Type.Literal(true),
  approvals: Type.Array(ApprovalItem),
  count: Type.Integer(),
  next_cursor: Type.Union([Type.String(), Type.Null()])
})
export type ApprovalList = Static<typeof ApprovalList>

export const ApprovalDetail = Type.Object({
  ...about,
  arguments: Type.Unknown({ description: 'As they will be handed over, with defaults.' }),
  version: Type.Union([Type.String(), Type.Null()], { description: 'Of the tool: what the arguments were checked against.' }),
  program_sha256: Type.Union([Type.String(), Type.Null()], { description: 'Of its files, as they were when the call was held, or held again; empty for a tool without any, null where this service can\'t read them.' }),
  previous: Type.Union([Type.Object({ job_id: Type.String(), arguments: Type.Unknown() }), Type.Null()], { description: 'The call of this tool that was approved before; null where none is known.' }),
  approval: ApprovalView
})
export type ApprovalDetail = Static<typeof ApprovalDetail>

/** `GET /v1/approvals/:id`, and the answer of a decision. */
export const ApprovalResponse = Type.Object({ ok: Type.Literal(true), approval: ApprovalDetail })

const Decision = Type.Enum(['approve', 'deny'])
/** `POST /v1/approvals/:id`. */
export const DecisionRequest = Type.Object({
  decision: Decision,
  digest: Type.String({ description: 'Of what was shown: `approval.digest`.' }),
  reason: Type.Optional(Type.Union([Type.String({ maxLength: limits.decisionChars }), Type.Null()], { description: 'For the model, where the call is denied.' }))
}, { additionalProperties: false })
export type DecisionRequest = Static<typeof DecisionRequest>

export function checkDecision (body: unknown): HttpError | undefined {
  return checkObject(body, firstError)
}

function firstError (body: Record<string, unknown>): string | undefined {
  const { decision, digest, reason } = body
  if (decision !== 'approve' && decision !== 'deny') return "'decision' must be approve or deny"
  if (typeof digest !== 'string' || !/^[0-9a-f]{64}$/.test(digest)) return "'digest' must be the approval.digest of what was shown"
  if (reason !== undefined && reason !== null && (typeof reason !== 'string' || reason.length > limits.decisionChars)) return `'reason' must be a text of at most ${limits.decisionChars} characters`
  return unknownField(body, DecisionRequest)
}
