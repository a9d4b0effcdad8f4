import { createHash } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import type { IdempotentRequest } from '@toolyard/queue'
import { Turns } from '@toolyard/runtime'
import { isRecord, lostText } from '@toolyard/contract'
import { ownerOfKey, type Principal } from '../access/principal.ts'

/** UTF-16 units that are hashed at once. */
const unitsAtOnce = 16_384
/** Members of a list that are written in one go: half a million numbers took 100 ms one by one. */
const itemsAtOnce = 1_024

/**
 * A request that is to be done once; undefined when it has no `Idempotency-Key`.
 *
 * @param request what makes it another request: the order of an object's fields doesn't.
 */
export async function idempotentRequest (
  key: string | undefined, principal: Principal, request: readonly unknown[]
): Promise<IdempotentRequest | undefined> {
  if (key === undefined) return undefined
  // A large request has taken this turn of the event loop already.
  await turn()
  return { key, owner: ownerOfKey(principal), request: await digestOf(request) }
}

async function digestOf (request: readonly unknown[]): Promise<string> {
  const hash = createHash('sha256')
  const turns = new Turns()
  let text = ''
  for (const part of canonical(request)) {
    text += part
    if (text.length >= unitsAtOnce) {
      hash.update(text)
      text = ''
    }
    if (turns.isOver()) await turns.next()
  }
  return hash.update(text).digest('hex')
}

/** JSON whose fields are sorted, in parts. */
function * canonical (value: unknown): Generator<string> {
  if (Array.isArray(value)) {
    yield * list(value)
    return
  }
  if (!isRecord(value)) {
    yield JSON.stringify(value) ?? 'null'
    return
  }
  let before = '{'
  for (const name of Object.keys(value).sort()) {
    if (value[name] === undefined) continue
    yield `${before}${JSON.stringify(name)}:`
    yield * member(value, name)
    before = ','
  }
  yield before === '{' ? '{}' : '}'
}

/** `1.0` is the same request as `1`; digits that JavaScript loses make another one. */
function * member (container: object, name: string): Generator<string> {
  const lost = lostText(container, name)
  if (lost === undefined) yield * canonical(Reflect.get(container, name))
  else yield lost
}

/** Text between objects, lists and digits that JavaScript loses is written in one go. */
function * list (items: readonly unknown[]): Generator<string> {
  yield '['
  let from = 0
  for (let at = 0; at <= items.length; at++) {
    const item = items[at]
    const isOwn = typeof item === 'object' && item !== null
    const lost = isOwn ? undefined : lostText(items, at)
    if (at < items.length && !isOwn && lost === undefined && at - from < itemsAtOnce) continue
    if (at > from) yield `${from === 0 ? '' : ','}${JSON.stringify(items.slice(from, at)).slice(1, -1)}`
    from = at
    if (at === items.length || (!isOwn && lost === undefined)) continue
    if (at > 0) yield ','
    if (lost === undefined) yield * canonical(item)
    else yield lost
    from = at + 1
  }
  yield ']'
}
