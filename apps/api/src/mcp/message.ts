import { isRecord } from '@toolyard/contract/terms'
import { invalidRequest } from './call/rpc-error.ts'
import { requireRoomFor } from './message-bounds.ts'

/** A message of a client, as the protocol's own code takes it: `null`, which many clients write for what they leave out, is left out. */
export interface Message {
  jsonrpc: '2.0'
  /** Absent for a notification. */
  id?: string | number
  /** Absent for an answer, which nobody has asked for. */
  method?: string
  params?: Record<string, unknown>
}

/** Methods that make work or end it: they need the role of an admin. */
const changing: ReadonlySet<unknown> = new Set(['tools/call', 'tasks/cancel', 'tasks/update'])
/** Objects for which languages write null, or an empty list, where they hold nothing. */
const objects: ReadonlySet<string> = new Set(['params', 'arguments', '_meta', 'capabilities'])

/**
 * Reads a body: one message, without what holds nothing.
 *
 * @throws RpcHttpError for what is no message, or one that holds too much.
 */
export function readMessage (body: unknown): Message {
  if (Array.isArray(body)) throw invalidRequest('A body is one message: batches of JSON-RPC are not taken, send each message by itself')
  if (!isRecord(body)) throw invalidRequest('A body is a message of JSON-RPC, which is an object')
  requireRoomFor(body)
  const { jsonrpc, id, method, params, result, error } = withoutNothing(body, body['method'] === 'tools/call' ? 'arguments' : undefined)
  if (jsonrpc !== '2.0') throw invalidRequest('\'jsonrpc\' must be "2.0"')
  if (method === undefined && (result !== undefined || error !== undefined)) return { jsonrpc }
  // Some write null as the id of a notification, which has none.
  const isNotice = id === undefined && (body['id'] === undefined || String(method).startsWith('notifications/'))
  if (!isNotice && !isId(id)) throw invalidRequest("'id' must be a text or an integer")
  if (typeof method !== 'string') throw invalidRequest("'method' must be a text")
  if (params !== undefined && !isRecord(params)) throw invalidRequest("'params' must be an object")
  return { jsonrpc, ...isId(id) && { id }, method, ...params !== undefined && { params: method === 'initialize' ? introduced(params) : params } }
}

export function changes ({ method }: Message): boolean {
  return changing.has(method)
}

/** The request of a client of 2025 that is cancelled by this message. */
export function cancelledBy ({ method, params }: Message): string | number | undefined {
  const requestId = method === 'notifications/cancelled' ? params?.['requestId'] : undefined
  return typeof requestId === 'string' || typeof requestId === 'number' ? requestId : undefined
}

/** The members that hold something. In what is kept, the arguments of a tool, null is a value, and so it is beside our own names. */
function withoutNothing (record: Record<string, unknown>, kept: string | undefined): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).flatMap(([name, value]) => {
    if (name.startsWith('toolyard/')) return [[name, value]]
    const isNothing = value === null || (Array.isArray(value) && value.length === 0)
    if (isNothing && objects.has(name)) return [[name, {}]]
    if (value === null || (name === 'cursor' && value === '')) return []
    return [[name, isRecord(value) && name !== kept ? withoutNothing(value, kept) : value]]
  }))
}

/** Nobody here reads what a client says of itself, and some say nothing. */
function introduced ({ capabilities = {}, clientInfo, ...rest }: Record<string, unknown>): Record<string, unknown> {
  return { ...rest, capabilities, clientInfo: { name: 'unknown', version: 'unknown', ...isRecord(clientInfo) && clientInfo } }
}

function isId (id: unknown): id is string | number {
  return typeof id === 'string' || Number.isInteger(id)
}
