/** Where work belongs in a trace, in the form of the W3C Trace Context: what travels in headers, in jobs and in variables. */
export interface TraceContext {
  /** Version, trace id, id of the span above, flags. */
  traceparent: string
  /** Other systems' part of the trace, which is handed on as it is. */
  tracestate?: string
}

/** `traceparent` of this version, or the beginning of a later one. */
const traceparentPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const member = /^[ \t]*(?:[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,256}[ \t]*$/
const longest = { traceparent: 256, tracestate: 512, members: 32 }

/**
 * Reads a trace context that came from outside. What is malformed counts as absent: without a `traceparent` there is no
 * context, without a `tracestate` there is one without it.
 */
export function readTraceContext (traceparent: unknown, tracestate?: unknown): TraceContext | undefined {
  if (typeof traceparent !== 'string' || traceparent.length > longest.traceparent) return undefined
  const [, version = 'ff', trace = '', span = '', flags = '', rest] = traceparentPattern.exec(traceparent) ?? []
  if (version === 'ff' || (version === '00' && rest !== undefined) || /^0+$/.test(trace) || /^0+$/.test(span)) return undefined
  // A later version may have more fields; only those of this version are read.
  const known = { traceparent: `00-${trace}-${span}-${flags}` }
  return isTracestate(tracestate) ? { ...known, tracestate } : known
}

export function traceIdsOf ({ traceparent }: TraceContext): { traceId: string, spanId: string } {
  return { traceId: traceparent.slice(3, 35), spanId: traceparent.slice(36, 52) }
}

/** The context as variables of a tool's process. */
export function traceVariables ({ traceparent, tracestate }: TraceContext): Record<string, string> {
  return { TRACEPARENT: traceparent, ...(tracestate === undefined ? {} : { TRACESTATE: tracestate }) }
}

function isTracestate (value: unknown): value is string {
  if (typeof value !== 'string' || value === '' || value.length > longest.tracestate) return false
  const members = value.split(',').filter(each => each.trim() !== '')
  return members.length > 0 && members.length <= longest.members && members.every(each => member.test(each))
}
