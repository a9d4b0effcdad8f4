import { Type } from 'typebox'

/** `GET /v1/auth/whoami` (RC6). `queue_allowlist` is null for a key that may use every queue. */
export const WhoAmI = Type.Object({
  ok: Type.Literal(true),
  auth: Type.Object({
    name: Type.String(),
    role: Type.Enum(['read', 'admin']),
    sse: Type.Boolean(),
    can_write: Type.Boolean(),
    queue_allowlist: Type.Union([Type.Array(Type.String()), Type.Null()]),
    tenant: Type.Optional(Type.String({ description: 'Absent for a key without a tenant, which sees everything.' }))
  })
})
