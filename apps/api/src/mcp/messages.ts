/*
 * What the service must know of a body before the protocol's own code reads it. A body is one message, or a list of them
 * from clients of the revision 2025-03-26.
 */

/** Methods that make work or end it: they need the role of an admin. */
const changing: ReadonlySet<unknown> = new Set(['tools/call', 'tasks/cancel', 'tasks/update'])
/** Methods whose answer may take long, and is a stream. */
const calling: ReadonlySet<unknown> = new Set(['tools/call'])

interface Message {
  id?: unknown
  method?: unknown
  params?: unknown
}

/** A message that changes something. */
export function changesIn (body: unknown): boolean {
  return messagesIn(body).some(({ method }) => changing.has(method))
}

/** A call that is waited for. */
export function callsIn (body: unknown): boolean {
  return messagesIn(body).some(({ method }) => calling.has(method))
}

/** The handshake of a client of 2025. */
export function isInitialize (body: unknown): boolean {
  return messagesIn(body).some(({ method }) => method === 'initialize')
}

/** The request of a client of 2026 to hear of changes. */
export function isListen (body: unknown): boolean {
  return messagesIn(body).some(({ method }) => method === 'subscriptions/listen')
}

/** The requests that a client of 2025 has cancelled. */
export function cancelledIn (body: unknown): Array<string | number> {
  return messagesIn(body).flatMap(({ method, params }) => {
    if (method !== 'notifications/cancelled' || typeof params !== 'object' || params === null || !('requestId' in params)) return []
    const { requestId } = params
    return typeof requestId === 'string' || typeof requestId === 'number' ? [requestId] : []
  })
}

/** Two requests of a batch with one id: a client could not tell their answers apart, and one would get none. */
export function hasRepeatedId (body: unknown): boolean {
  const ids = messagesIn(body).flatMap(({ id, method }) => id === undefined || method === undefined ? [] : [id])
  return new Set(ids).size < ids.length
}

function messagesIn (body: unknown): Message[] {
  return [body].flat().filter((message): message is Message => typeof message === 'object' && message !== null)
}
