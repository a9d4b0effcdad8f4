import type { Static } from 'typebox'
import { checkObject, type HttpError } from '../terms/errors.ts'
import { limits } from '../terms/limits.ts'
import { unknownField } from '../value/fields.ts'
import { Type } from '../value/type.ts'

/** `POST /v1/jobs/:id/answer`. */
export const AnswerRequest = Type.Object({
  answer: Type.Unknown({ description: `Fits the schema of the question; its JSON has at most ${limits.answerChars} characters.` }),
  number: Type.Optional(Type.Integer({ minimum: 1, description: 'Of the question that is answered; the one that is asked now where it is left out.' }))
}, { additionalProperties: false })
export type AnswerRequest = Static<typeof AnswerRequest>

export function checkAnswer (body: unknown): HttpError | undefined {
  return checkObject(body, firstError)
}

function firstError (body: Record<string, unknown>): string | undefined {
  const { answer, number } = body
  if (answer === undefined) return "'answer' is missing: it is what fits the schema of the question"
  if (number !== undefined && !(Number.isSafeInteger(number) && Number(number) >= 1)) return "'number' must be that of the question, from 1 on"
  return unknownField(body, AnswerRequest)
}
