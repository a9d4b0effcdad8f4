import type { Static } from 'typebox'
import { Type } from '../value/type.ts'
import { JobView } from './jobs.ts'

/**
 * The body of a callback. `status` is `succeeded`, `failed` or `cancelled`, and `updated_at` the time of the end;
 * `result` is truncated as in an answer to a model.
 */
export const CallbackBody = Type.Pick(JobView, ['id', 'type', 'status', 'attempts', 'max_attempts', 'result', 'error', 'updated_at'])
export type CallbackBody = Static<typeof CallbackBody>
