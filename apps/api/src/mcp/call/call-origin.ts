import type { ServerContext } from '@modelcontextprotocol/server'
import { readTraceContext } from '@toolyard/contract'
import type { RequestOrigin } from '../../plugins/request-trace.ts'
import type { Exchange } from './exchange.ts'

/**
 * What a job says of where it comes from. The place in a trace that a message names in its `_meta` is that of this call;
 * headers may be those of a connection that many calls share, so they count where the message names none.
 */
export function callOrigin ({ mcpReq: { _meta: meta } }: ServerContext, { origin }: Exchange): RequestOrigin | undefined {
  if (origin === null) return undefined
  const named = readTraceContext(meta?.['traceparent'], meta?.['tracestate'])
  return named === undefined ? origin : { ...origin, context: named }
}
