import { ProtocolError, ProtocolErrorCode, type ServerContext } from '@modelcontextprotocol/server'
import { isSessionId, readTraceContext } from '@toolyard/contract'
import type { RequestOrigin } from '../../plugins/request-trace.ts'
import type { CallPlace, Exchange } from './exchange.ts'

/** Names the session of a message's call in its `_meta`. */
const sessionKey = 'toolyard/session'

/**
 * The origin of a job. The place in a trace that a message names in its `_meta` is that of this call;
 * headers may be those of a connection that many calls share, so they count where the message names none.
 */
export function callOrigin ({ mcpReq: { _meta: meta } }: ServerContext, { origin }: Exchange): RequestOrigin | undefined {
  if (origin === null) return undefined
  const named = readTraceContext(meta?.['traceparent'], meta?.['tracestate'])
  return named === undefined ? origin : { ...origin, context: named }
}

/**
 * Where the call of one message is. The session in its `_meta` counts before the one of the address, which many calls share.
 *
 * @throws ProtocolError for a session that can't be one.
 */
export function placeOfCall ({ mcpReq: { _meta: meta } }: ServerContext, { queue, session }: CallPlace): CallPlace {
  const named = meta?.[sessionKey]
  if (named === undefined) return { queue, session }
  if (!isSessionId(named)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `'${sessionKey}' in _meta must be the id of a session`)
  return { queue, session: named }
}
