import type { RunTrace } from '@toolyard/sandbox'

/** Where a call belongs in a trace, by the names that W3C gives to headers, and MCP to fields of `_meta`. */
export type TraceFields = Readonly<Record<string, string>>

/** The same as a process has in `TRACEPARENT` and `TRACESTATE`; empty without a trace. */
export function traceFields (trace: RunTrace | undefined): TraceFields {
  return Object.fromEntries(Object.entries(trace?.variables ?? {}).map(([name, value]) => [name.toLowerCase(), value]))
}
