import type { Static } from 'typebox'
import { Type } from '../value/type.ts'
import { SandboxView } from '../jobs/jobs.ts'
import { WorkerState } from './workers.ts'

/** `GET /health`: the process answers. */
export const Health = Type.Object({ ok: Type.Literal(true), service: Type.String(), time: Type.String() })

/** `GET /ready`: each check by name; 200 when all of them hold, else 503. */
export const Ready = Type.Object({
  ok: Type.Boolean(),
  checks: Type.Record(Type.String(), Type.Object({ ok: Type.Boolean(), detail: Type.Optional(Type.String()) })),
  workers: Type.Optional(Type.Object({
    count: Type.Integer(),
    list: Type.Array(Type.Object({ id: Type.String(), sandbox: SandboxView, state: WorkerState }), { description: 'The first of them.' })
  }, { description: 'Workers that are alive; absent while Redis does not answer.' }))
})
export type Ready = Static<typeof Ready>
