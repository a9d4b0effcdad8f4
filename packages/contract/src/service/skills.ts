import type { Static } from 'typebox'
import { Type } from '../value/type.ts'

/** `GET /v1/skills`: what a model is told of the skills. */
export const SkillList = Type.Object({
  ok: Type.Literal(true),
  skills: Type.Array(Type.Object({ name: Type.String(), description: Type.String(), tools: Type.Array(Type.String()) })),
  count: Type.Integer(),
  prompt: Type.String({ description: 'A text for the system prompt; empty without skills.' })
})
export type SkillList = Static<typeof SkillList>
