import type { Static } from 'typebox'
import { Type } from '../value/type.ts'

const oneQuestion = {
  number: Type.Integer({ description: 'The first question of a job is 1.' }),
  name: Type.String({ description: 'What its tool calls it; `answer` where it does not say.' }),
  kind: Type.Enum(['form', 'sampling', 'roots'], {
    description: 'Who can answer: a person (`form`), a model (`sampling`), or the client, which knows its directories (`roots`).'
  }),
  text: Type.String(),
  params: Type.Optional(Type.Unknown({ description: 'Of `sampling`: the messages for the model and how many tokens it may write, as `sampling/createMessage` of MCP has them.' })),
  schema: Type.Unknown({ description: 'JSON Schema of the answer.' }),
  refused: Type.Optional(Type.Object({ count: Type.Integer(), reason: Type.String() }, { description: 'Answers of the client of an MCP task that did not fit, and why the last one did not.' }))
}

/** One of the questions that a tool asks at once. */
export const AskedQuestion = Type.Object(oneQuestion)
export type AskedQuestion = Static<typeof AskedQuestion>

/** A question of a tool that nobody has answered yet. */
export const QuestionView = Type.Object({
  ...oneQuestion,
  asked_at: Type.String(),
  expires_at: Type.String({ description: 'When nobody can answer it any more: the job fails then.' }),
  more: Type.Optional(Type.Array(AskedQuestion, { description: 'What is asked at the same time and has no answer yet. The tool runs again when all are answered, in any order.' }))
}, { description: 'What its tool asks: `POST /v1/jobs/:id/answer`. Absent while it asks nothing.' })
export type QuestionView = Static<typeof QuestionView>

/** All that a tool asks at once. */
export function askedAtOnce ({ more = [], ...first }: QuestionView): AskedQuestion[] {
  return [first, ...more]
}
