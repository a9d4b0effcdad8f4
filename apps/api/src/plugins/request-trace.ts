import { readTraceContext, traceIdsOf, type TraceContext } from '@toolyard/contract'
import type { Span, Tracer } from '@toolyard/runtime/traces'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'

/** For jobs and lines of the log. */
export interface RequestOrigin {
  id: string
  /** The request's place in its trace: its own span, or without traces the caller's. */
  context: TraceContext | undefined
  /** The calls that became jobs, as they are answered; for the request's line in the log. */
  calls: Array<{ callId?: string, jobId: string }>
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on every request before its other hooks run. */
    origin: RequestOrigin | null
  }
}

/** Asked again and again by machines, with nothing to see. */
const unwatched = new Set(['/health', '/ready', '/metrics'])

/** Reads the caller's trace context, and makes a span of each request. A URL can hold a secret, so spans have the route's pattern alone. */
export const requestTraces = fp<{ tracer: Tracer | undefined }>(async (app: FastifyInstance, { tracer }) => {
  app.decorateRequest('origin', null)
  app.addHook('onRequest', (request, reply, done) => {
    const parent = readTraceContext(request.headers.traceparent, request.headers['tracestate'])
    const route = request.routeOptions.url
    const span = tracer === undefined || unwatched.has(route ?? '') ? undefined : startSpan(tracer, request, { parent, route })
    const context = span?.context ?? parent
    request.origin = { id: request.id, context, calls: [] }
    if (context !== undefined) {
      const { traceId, spanId } = traceIdsOf(context)
      request.log = reply.log = request.log.child({ trace_id: traceId, span_id: spanId })
    }
    if (span !== undefined) reply.raw.once('close', () => { endSpan(span, request, reply) })
    done()
  })
}, { name: 'request-traces' })

function startSpan (
  tracer: Tracer, request: FastifyRequest, { parent, route }: { parent: TraceContext | undefined, route: string | undefined }
): Span {
  return tracer.start(route === undefined ? request.method : `${request.method} ${route}`, {
    parent,
    kind: 'server',
    attributes: {
      'http.request.method': request.method,
      'url.scheme': request.protocol,
      ...(route === undefined ? {} : { 'http.route': route }),
      'toolyard.request.id': request.id
    }
  })
}

function endSpan (span: Span, request: FastifyRequest, { raw }: FastifyReply): void {
  if (request.principal !== null && request.principal !== undefined) span.set({ 'toolyard.key': request.principal.name })
  if (raw.headersSent) span.set({ 'http.response.status_code': raw.statusCode })
  if (raw.statusCode >= 500) span.fail(String(raw.statusCode))
  else if (!raw.writableFinished) span.fail('disconnected')
  span.end()
}
