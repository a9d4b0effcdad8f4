import type { TraceContext } from '@toolyard/contract'

type SpanAttributes = Readonly<Record<string, string | number | boolean>>

export interface SpanOptions {
  /** Its parent; absent, a new trace begins. */
  parent?: TraceContext | undefined
  /** `server` for an incoming request, `consumer` for a job that was taken; else it is work inside of the process. */
  kind?: 'server' | 'consumer'
  attributes?: SpanAttributes
  /** When it began, as `performance.now()` tells or would have told; absent: now. */
  at?: number
}

export interface Span {
  /** The parent of spans below it. */
  readonly context: TraceContext
  set: (attributes: SpanAttributes) => void
  /** The work failed; `code` is one of the contract's, and no text of a tool. */
  fail: (code: string) => void
  /** @param at as in `SpanOptions` */
  end: (at?: number) => void
}

/** Makes spans, and sends them to a collector. No method throws, and none waits for the collector. */
export interface Tracer {
  start: (name: string, options: SpanOptions) => Span
  /** Sends what is left, if that takes no longer than `closeMs`. */
  close: () => Promise<void>
}

/** Where spans go. Which ones are sent, and what else is said of the process, OpenTelemetry's libraries read themselves. */
export interface TraceSettings {
  /** Names the process, where `OTEL_SERVICE_NAME` doesn't. */
  part: 'api' | 'worker'
  url: string
  protocol: 'http/protobuf' | 'http/json'
  /** May hold secrets. */
  headers: Readonly<Record<string, string>>
}

/** How long the last spans may take at the end of a process, in milliseconds. */
export const closeMs = 2_000
