import { createHash } from 'node:crypto'
import type { Once } from '@toolyard/queue'
import type { Principal } from '../plugins/auth.ts'

/**
 * A request that is to be done once (RC23); undefined when it has no `Idempotency-Key`.
 *
 * @param request what makes it another request: the order of an object's fields doesn't.
 */
export function onceOf (key: string | undefined, principal: Principal, request: readonly unknown[]): Once | undefined {
  if (key === undefined) return undefined
  return { key, keyName: principal.name, request: createHash('sha256').update(JSON.stringify(request, sorted)).digest('hex') }
}

function sorted (_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1))
}
