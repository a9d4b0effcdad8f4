import type { Settings } from '../settings.ts'
import type { TraceSettings } from '../../traces/tracer.ts'

/** Where a collector listens when no address is named. */
const localCollector = 'http://127.0.0.1:4318'

/** Where the spans of a process go; undefined when there are none: nobody named a collector, or traces are switched off. */
export function tracesOf (settings: Settings, part: TraceSettings['part']): TraceSettings | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = settings
  const exporter = settings.OTEL_TRACES_EXPORTER ?? (endpoint === undefined && own === undefined ? 'none' : 'otlp')
  if (settings.OTEL_SDK_DISABLED || exporter === 'none') return undefined
  return {
    part,
    url: own ?? `${(endpoint ?? localCollector).replace(/\/+$/, '')}/v1/traces`,
    protocol: settings.OTEL_EXPORTER_OTLP_PROTOCOL,
    headers: settings.OTEL_EXPORTER_OTLP_HEADERS ?? {}
  }
}

/** What of the settings of traces must show nowhere: keys of the collector. */
export function traceSecretsOf ({ OTEL_EXPORTER_OTLP_HEADERS: headers = {} }: Settings): string[] {
  return Object.values(headers).flatMap(value => [value, value.replace(/^(?:Bearer|Basic) +/i, '')])
}
