export { openTracer } from './open-tracer.ts'
export { closeMs, type Span, type Tracer, type TraceSettings } from './tracer.ts'
