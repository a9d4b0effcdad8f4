import type { Tracer, TraceSettings } from './tracer.ts'

/**
 * Opens a tracer; undefined when there is nothing to trace. The libraries of OpenTelemetry are loaded here and nowhere
 * else: they take longer to load than half of a worker.
 */
export async function openTracer (settings: TraceSettings | undefined, onError: (message: string) => void): Promise<Tracer | undefined> {
  if (settings === undefined) return undefined
  const { createTracer } = await import('./otel-tracer.ts')
  return await createTracer(settings, onError)
}
