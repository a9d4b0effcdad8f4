export { openTracer } from './open-tracer.ts'
export { closeMs, type Sampler, type Span, type SpanAttributes, type SpanOptions, type Tracer, type TraceSettings } from './tracer.ts'
