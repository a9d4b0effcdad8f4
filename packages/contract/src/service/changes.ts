import type { Static } from 'typebox'
import { Type } from '../value/type.ts'

/** Something that was changed by the API or the console. */
export const ChangeView = Type.Object({
  id: Type.String(),
  at: Type.String(),
  key: Type.String({ description: 'The name of the API key.' }),
  tenant: Type.Union([Type.String(), Type.Null()]),
  action: Type.String({ description: 'Such as `approval.decide`, `queue.switch`, `tool.switch`, `job.cancel`, `key.revoke`.' }),
  target: Type.Union([Type.String(), Type.Null()], { description: 'The name or id of what it was done to.' }),
  about: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), { description: 'What was said of it, such as `decision` or `paused`; `answered`, such as 503, where it may have been made, or not.' }),
  request: Type.String({ description: 'The id of the request.' })
})
export type ChangeView = Static<typeof ChangeView>

/** `GET /v1/audit`. */
export const ChangeList = Type.Object({
  ok: Type.Literal(true),
  changes: Type.Array(ChangeView, { description: 'The latest first. The last 10,000 of the operator, and of each tenant, are kept.' }),
  next_cursor: Type.Union([Type.String(), Type.Null()])
})
export type ChangeList = Static<typeof ChangeList>
