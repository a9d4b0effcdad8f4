import { HttpError } from '@toolyard/contract'
import type { MetricsRegistry } from '@toolyard/runtime'
import type { App } from '../app.ts'
import { principalOf } from '../plugins/auth.ts'

/** The process's metrics in the Prometheus text format, for admin keys. */
export async function metricsRoute (app: App, { metrics }: { metrics: MetricsRegistry }): Promise<void> {
  app.get('/metrics', async (request, reply) => {
    if (principalOf(request).role !== 'admin') throw new HttpError('FORBIDDEN', 'This operation requires an admin API key.')
    return await reply.header('content-type', metrics.contentType).send(await metrics.metrics())
  })
}
