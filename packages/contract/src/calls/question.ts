import type { Static } from 'typebox'
import { Type } from '../value/type.ts'

/** What a tool asks whoever called it, while nobody has answered. */
export const QuestionView = Type.Object({
  number: Type.Integer({ description: 'The first question of a job is 1.' }),
  name: Type.String({ description: 'What its tool calls it; `answer` where it does not say.' }),
  text: Type.String(),
  schema: Type.Unknown({ description: 'JSON Schema of the answer.' }),
  asked_at: Type.String(),
  expires_at: Type.String({ description: 'When nobody can answer it any more: the job fails then.' }),
  refused: Type.Optional(Type.Object({ count: Type.Integer(), reason: Type.String() }, { description: 'Answers of the client of an MCP task that did not fit, and why the last one did not.' }))
}, { description: 'What its tool asks: `POST /v1/jobs/:id/answer`. Absent while it asks nothing.' })
export type QuestionView = Static<typeof QuestionView>
