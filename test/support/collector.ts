import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Cleanup } from './cleanup.ts'
import { listening } from './listening.ts'

export interface ReceivedSpan {
  /** `service.name` of its process. */
  service: string
  name: string
  traceId: string
  spanId: string
  parentSpanId: string
  kind: number
  traceState: string
  attributes: Record<string, unknown>
  /** The code of a failure; empty without one. */
  error: string
  startMs: number
  endMs: number
}

/** A receiver of OTLP over HTTP with JSON. */
export interface Collector {
  url: string
  spans: ReceivedSpan[]
  /** Bodies and headers as they came. */
  texts: string[]
}

interface OtlpValue { stringValue?: string, intValue?: number | string, boolValue?: boolean, doubleValue?: number }
interface OtlpAttribute { key: string, value: OtlpValue }
interface OtlpSpan {
  name: string
  traceId: string
  spanId: string
  parentSpanId?: string
  kind?: number
  traceState?: string
  attributes?: OtlpAttribute[]
  status?: { code?: number, message?: string }
  startTimeUnixNano: string
  endTimeUnixNano: string
}
interface OtlpRequest {
  resourceSpans?: Array<{ resource?: { attributes?: OtlpAttribute[] }, scopeSpans?: Array<{ spans?: OtlpSpan[] }> }>
}

/** Starts a collector; `answer` takes the place of its own answers. */
export async function startCollector (t: Cleanup, answer = (response: ServerResponse): void => { response.end('{}') }): Promise<Collector> {
  const spans: ReceivedSpan[] = []
  const texts: string[] = []
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request)
    texts.push(JSON.stringify(request.headers), body)
    if (request.headers['content-type']?.includes('json') === true) spans.push(...spansIn(JSON.parse(body) as OtlpRequest))
    answer(response)
  }
  const server = createServer((request, response) => { receive(request, response).catch(() => { response.destroy() }) })
  return { url: `http://127.0.0.1:${await listening(t, server)}`, spans, texts }
}

/** The environment of processes that send their spans to a collector at once. */
export function tracedTo ({ url }: Pick<Collector, 'url'>): Record<string, string> {
  return { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', OTEL_BSP_SCHEDULE_DELAY: '20' }
}

function spansIn ({ resourceSpans = [] }: OtlpRequest): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans = [] }) => {
    const name = valuesOf(resource?.attributes)['service.name']
    const service = typeof name === 'string' ? name : ''
    return scopeSpans.flatMap(({ spans = [] }) => spans.map(span => ({
      service,
      name: span.name,
      traceId: span.traceId,
      spanId: span.spanId,
      parentSpanId: span.parentSpanId ?? '',
      kind: span.kind ?? 0,
      traceState: span.traceState ?? '',
      attributes: valuesOf(span.attributes),
      error: span.status?.code === 2 ? span.status.message ?? '?' : '',
      startMs: Number(span.startTimeUnixNano) / 1e6,
      endMs: Number(span.endTimeUnixNano) / 1e6
    })))
  })
}

function valuesOf (attributes: OtlpAttribute[] = []): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.boolValue ?? Number(value.intValue ?? value.doubleValue)])
  )
}
