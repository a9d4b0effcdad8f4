import { isRecord } from '@toolyard/contract/terms'
import { invalidRequest, rpcCodes, RpcHttpError } from './call/rpc-error.ts'
import { mostWatched } from './call/session-change.ts'

/*
 * The protocol's own code checks each value of a message, some of them many times, and keeps what it is to watch. What a message
 * may hold is bounded before.
 */

/** Bounds of a message beside arguments: values, and UTF-16 units of its names and texts. */
const most = { values: 1_000, units: 65_536 }
/** UTF-16 units of what an answer repeats: with each step of progress, say. */
const mostRepeated = 1_024

/** @throws RpcHttpError for a message that holds more than it may. */
export function requireRoomFor (message: Record<string, unknown>): void {
  const params = isRecord(message['params']) ? message['params'] : {}
  const meta = isRecord(params['_meta']) ? params['_meta'] : {}
  // A tool's schema bounds its arguments. Those of a prompt are texts of any length, and each is checked.
  const { method } = message
  const free = method === 'tools/call' ? 'arguments' : undefined
  const room = { ...most }
  for (const [name, value] of entriesOf(message)) if (name !== 'params') take(room, name, value)
  for (const [name, value] of entriesOf(message['params'])) {
    if (name !== free) take(room, name, value, method === 'prompts/get' && name === 'arguments')
  }
  for (const repeated of [message['id'], params['requestId'], meta['progressToken']]) {
    if (typeof repeated === 'string' && repeated.length > mostRepeated) throw invalidRequest(`An id or a progress token has at most ${mostRepeated} characters`)
  }
  if (method === 'subscriptions/listen') requireFewWatched(params['notifications'])
}

/** Takes the room of a member. Texts that are arguments of a prompt are counted, and not measured. */
function take (room: typeof most, name: string, value: unknown, isFree = false): void {
  room.values -= 1
  room.units -= name.length + (typeof value === 'string' && !isFree ? value.length : 0)
  if (room.values < 0 || room.units < 0) {
    throw invalidRequest(`Beside the arguments of a tool, a message has at most ${most.values} values and ${most.units} characters, and this one has more`)
  }
  for (const [inner, item] of entriesOf(value)) take(room, inner, item, isFree)
}

/** One by one: a list of all of them would take longer than the rest. */
function * entriesOf (value: unknown): Generator<[string, unknown]> {
  if (Array.isArray(value)) for (const item of value as unknown[]) yield ['', item]
  else if (isRecord(value)) for (const name in value) yield [name, value[name]]
}

/** A stream of a client of 2026 watches as much as a session of one of 2025. */
function requireFewWatched (notifications: unknown): void {
  const uris = isRecord(notifications) ? notifications['resourceSubscriptions'] : undefined
  if (!Array.isArray(uris)) return
  const bytes = uris.map(uri => Buffer.byteLength(String(uri)))
  const { uris: mostUris, uriBytes, bytes: mostBytes } = mostWatched
  if (uris.length > mostUris || bytes.some(each => each > uriBytes) || bytes.reduce((sum, each) => sum + each, 0) > mostBytes) {
    throw new RpcHttpError(
      400, rpcCodes.invalidParams, `A stream watches at most ${mostUris} resources, whose URIs have at most ${uriBytes} bytes each and ${mostBytes} together`
    )
  }
}
