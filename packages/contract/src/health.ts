import { Type, type Static } from 'typebox'

/** `GET /health`: the process answers. */
export const Health = Type.Object({ ok: Type.Literal(true), service: Type.String(), time: Type.String() })

/** `GET /ready`: each check by name; 200 when all of them hold, else 503. */
export const Ready = Type.Object({
  ok: Type.Boolean(),
  checks: Type.Record(Type.String(), Type.Object({ ok: Type.Boolean(), detail: Type.Optional(Type.String()) }))
})
export type Ready = Static<typeof Ready>
