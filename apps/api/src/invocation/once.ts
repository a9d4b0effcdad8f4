import { createHash } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import type { Once } from '@toolyard/queue'
import { ownerOf } from '@toolyard/store'
import { isRecord, lostText } from '@toolyard/contract'
import type { Principal } from '../access/principal.ts'

/**
 * A request that is to be done once; undefined when it has no `Idempotency-Key`.
 *
 * @param request what makes it another request: the order of an object's fields doesn't.
 */
export async function onceOf (key: string | undefined, principal: Principal, request: readonly unknown[]): Promise<Once | undefined> {
  if (key === undefined) return undefined
  // A large request has taken this turn of the event loop already.
  await turn()
  return { key, owner: ownerOf({ tenant: principal.tenant, keyName: principal.name }), request: createHash('sha256').update(canonical(request)).digest('hex') }
}

/** JSON whose fields are sorted. */
function canonical (value: unknown): string {
  if (Array.isArray(value)) return list(value)
  if (!isRecord(value)) return JSON.stringify(value) ?? 'null'
  const names = Object.keys(value).filter(name => value[name] !== undefined).sort()
  return `{${names.map(name => `${JSON.stringify(name)}:${member(value, name)}`).join(',')}}`
}

/** `1.0` is the same request as `1`; digits that JavaScript loses make another one. */
function member (container: object, name: string): string {
  return lostText(container, name) ?? canonical(Reflect.get(container, name))
}

/** What stands between objects, lists and such digits is written in one go: half a million numbers took 100 ms one by one. */
function list (items: readonly unknown[]): string {
  const parts: string[] = []
  let from = 0
  for (let at = 0; at <= items.length; at++) {
    const item = items[at]
    const own = typeof item === 'object' && item !== null ? canonical(item) : lostText(items, at)
    if (at < items.length && own === undefined) continue
    if (at > from) parts.push(JSON.stringify(items.slice(from, at)).slice(1, -1))
    if (own !== undefined) parts.push(own)
    from = at + 1
  }
  return `[${parts.join(',')}]`
}
