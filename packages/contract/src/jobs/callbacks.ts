import type { Static } from 'typebox'
import { Type } from '../value/type.ts'
import { JobView, type ApprovalView } from './jobs.ts'

/**
 * The body of a callback. `status` is `succeeded`, `failed` or `cancelled`, and `updated_at` the time of the end;
 * `result` is truncated as in an answer to a model.
 */
export const CallbackBody = Type.Pick(JobView, ['id', 'type', 'status', 'attempts', 'max_attempts', 'result', 'error', 'updated_at'])
export type CallbackBody = Static<typeof CallbackBody>

/** Approvers are told of these. */
export type ApprovalEvent = 'approval.requested' | 'approval.decided'

/** The body of a callback about a held call. Unlike that of an end it has an `event`. */
export interface ApprovalCallbackBody {
  event: ApprovalEvent
  id: string
  type: string
  tool: string
  key: string
  tenant: string | null
  session: string | null
  conversation: string | null
  /** The JSON of its arguments, the first characters. */
  arguments_preview: string
  approval: ApprovalView
}
