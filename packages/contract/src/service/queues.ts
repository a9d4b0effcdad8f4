import type { Static } from 'typebox'
import type { HttpError } from '../terms/errors.ts'
import { checkSwitch } from './check-switch.ts'
import { Type } from '../value/type.ts'

/** A queue, and what has not ended in it. */
export const QueueView = Type.Object({
  name: Type.String(),
  paused: Type.Boolean({ description: 'Whether an operator paused it: its jobs wait until it is resumed.' }),
  waiting: Type.Integer({ description: 'Jobs that a worker could take now.' }),
  delayed: Type.Integer({ description: 'Jobs that are not due yet: `delay_ms`, or the pause before another attempt.' }),
  blocked: Type.Integer({ description: 'Jobs that wait for others: `depends_on`, or the steps of a workflow.' }),
  held: Type.Integer({ description: 'Jobs that wait for a person: an approval, or the answer to a question.' }),
  running: Type.Integer(),
  oldest_sec: Type.Number({ description: 'How long the oldest of the jobs that are next has waited, in seconds; 0 where none waits.' }),
  workers: Type.Integer({ description: 'Workers that are alive and serve it, without those that are drained.' }),
  places: Type.Union([Type.Integer(), Type.Null()], { description: 'Jobs that these can run at once in one queue; null where one of them does not tell.' })
})
export type QueueView = Static<typeof QueueView>

/** `GET /v1/queues`: by name. */
export const QueueList = Type.Object({ ok: Type.Literal(true), queues: Type.Array(QueueView), count: Type.Integer() })
export type QueueList = Static<typeof QueueList>

/** `PATCH /v1/queues/:name`. */
export const QueuePatch = Type.Object({ paused: Type.Boolean() }, { additionalProperties: false })
export type QueuePatch = Static<typeof QueuePatch>
/** Its answer: the queue as it is now. */
export const QueueResponse = Type.Object({ ok: Type.Literal(true), queue: QueueView })

/**
 * Checks the body of `PATCH /v1/queues/:name`.
 *
 * @returns undefined for a good body, else `VALIDATION_ERROR` that names the field.
 */
export function checkQueuePatch (body: unknown): HttpError | undefined {
  return checkSwitch(body, QueuePatch, 'paused')
}
