import type { Settings } from '../settings.ts'
import type { TraceSettings } from '../../traces/tracer.ts'

/** Where the spans of a process go; undefined when there are none: nobody named a collector. */
export function tracesOf (settings: Settings, part: TraceSettings['part']): TraceSettings | undefined {
  const { OTEL_EXPORTER_OTLP_PROTOCOL: protocol, OTEL_EXPORTER_OTLP_HEADERS: headers = {} } = settings
  const url = settings.OTEL_EXPORTER_OTLP_ENDPOINT?.replace(/(?:\/v1\/traces)?\/*$/, '/v1/traces')
  return url === undefined ? undefined : { part, url, protocol, headers }
}

/** Keys of the collector: they must show nowhere. */
export function traceSecretsOf ({ OTEL_EXPORTER_OTLP_HEADERS: headers = {} }: Settings): string[] {
  return Object.values(headers).flatMap(value => [value, value.replace(/^(?:Bearer|Basic) +/i, '')])
}
