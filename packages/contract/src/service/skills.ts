import type { Static } from 'typebox'
import { Type } from '../value/type.ts'

/** `GET /v1/skills`: what a model is told of the skills. */
export const SkillList = Type.Object({
  ok: Type.Literal(true),
  skills: Type.Array(Type.Object({
    name: Type.String(),
    description: Type.String(),
    tools: Type.Array(Type.String()),
    audit: Type.Optional(Type.Enum(['experimental', 'trusted'], { description: 'Of what toolyard add has added: what its entry of the lock says.' })),
    capability_tier: Type.Optional(Type.String({ description: 'What it asks of a model, by its author: minimal, moderate or full.' })),
    variant_of: Type.Optional(Type.String({ description: 'The skill that it is a variant of, by its author.' }))
  })),
  count: Type.Integer(),
  prompt: Type.String({ description: 'A text for the system prompt; empty without skills.' })
})
export type SkillList = Static<typeof SkillList>
