import type { TraceContext } from '@toolyard/contract'
import {
  createTraceState, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Context, type HrTime, type Span as OtelSpan, type SpanContext
} from '@opentelemetry/api'
import { setGlobalErrorHandler } from '@opentelemetry/core'
import { defaultResource, detectResources, envDetector, resourceFromAttributes, type Resource } from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base'
import { randomUUID } from 'node:crypto'
import { closeMs, type Span, type SpanOptions, type Tracer, type TraceSettings } from './tracer.ts'

const kinds = { server: SpanKind.SERVER, consumer: SpanKind.CONSUMER }
/** UTF-16 units of an attribute: names and ids, which are shorter unless somebody sends nonsense. */
const attributeChars = 256
/** A collector that is away is told of once, and again after so long, in milliseconds. */
const tellAgainMs = 60_000
/** When the clock of the machine was set, the clock of spans follows, in milliseconds. */
const clockMs = 2

/** See `openTracer`. */
export async function createTracer (settings: TraceSettings, onError: (message: string) => void): Promise<Tracer> {
  setGlobalErrorHandler(oncePerWhile(error => { onError(error instanceof Error ? error.message : 'the collector refused them') }))
  const provider = new BasicTracerProvider({
    resource: resourceOf(settings),
    spanProcessors: [new BatchSpanProcessor(await exporterOf(settings))],
    spanLimits: { attributeValueLengthLimit: attributeChars }
  })
  const tracer = provider.getTracer('toolyard')
  const clock = createClock()
  return {
    start: (name, { parent, kind, attributes = {}, at }) => spanOf(tracer.startSpan(name, {
      startTime: clock(at), attributes, ...(kind === undefined ? {} : { kind: kinds[kind] })
    }, contextOf(parent)), clock),
    close: async () => { await Promise.race([provider.shutdown().catch(() => {}), after(closeMs)]) }
  }
}

function resourceOf ({ part }: TraceSettings): Resource {
  const own = resourceFromAttributes({ 'service.name': `toolyard-${part}`, 'service.instance.id': randomUUID() })
  return defaultResource().merge(own).merge(detectResources({ detectors: [envDetector] }))
}

async function exporterOf ({ url, headers, protocol }: TraceSettings): Promise<SpanExporter> {
  const { OTLPTraceExporter } = protocol === 'http/json'
    ? await import('@opentelemetry/exporter-trace-otlp-http')
    : await import('@opentelemetry/exporter-trace-otlp-proto')
  return new OTLPTraceExporter({ url, headers })
}

function spanOf (span: OtelSpan, clock: Clock): Span {
  return {
    context: traceContextOf(span.spanContext()),
    set: attributes => { span.setAttributes(attributes) },
    fail: code => { span.setStatus({ code: SpanStatusCode.ERROR, message: code }).setAttribute('error.type', code) },
    end: at => { span.end(clock(at)) }
  }
}

function contextOf (parent: SpanOptions['parent']): Context {
  if (parent === undefined) return ROOT_CONTEXT
  const [, traceId = '', spanId = '', flags = ''] = parent.traceparent.split('-')
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(parent.tracestate === undefined ? {} : { traceState: createTraceState(parent.tracestate) })
  })
}

function traceContextOf ({ traceId, spanId, traceFlags, traceState }: SpanContext): TraceContext {
  const tracestate = traceState?.serialize() ?? ''
  const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
  return tracestate === '' ? { traceparent } : { traceparent, tracestate }
}

/** Tells the time of day for a time of `performance.now()`, which has parts of a millisecond and never goes back. */
type Clock = (at?: number) => HrTime

function createClock (): Clock {
  let offset = Date.now() - performance.now()
  return at => {
    const now = performance.now()
    const off = Date.now() - (offset + now)
    if (Math.abs(off) > clockMs) offset += off
    const ms = offset + (at ?? now)
    return [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1e6)]
  }
}

function oncePerWhile (tell: (error: unknown) => void): (error: unknown) => void {
  let toldAt = -Infinity
  return error => {
    const now = performance.now()
    if (now - toldAt < tellAgainMs) return
    toldAt = now
    tell(error)
  }
}

async function after (ms: number): Promise<void> {
  await new Promise<void>(resolve => { setTimeout(resolve, ms).unref() })
}
