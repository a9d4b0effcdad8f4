import { HttpError } from '@toolyard/contract'
import type { MetricsRegistry } from '@toolyard/runtime'
import type { App } from '../plugins/typed-app.ts'
import { principalOf, requireAllNamespaces, requireOperator } from '../access/principal.ts'

/** The process's metrics in the Prometheus text format, for admin keys of all queues and namespaces: they tell of each. */
export async function metricsRoute (app: App, { metrics }: { metrics: MetricsRegistry }): Promise<void> {
  app.get('/metrics', async (request, reply) => {
    const principal = principalOf(request)
    const { role, queueAllowlist } = principal
    requireOperator(principal)
    if (role !== 'admin') throw new HttpError('FORBIDDEN', 'This operation requires an admin API key.')
    if (queueAllowlist !== undefined) throw new HttpError('FORBIDDEN', 'The metrics tell of all queues: they require an API key without queue_allowlist.')
    requireAllNamespaces(principal, 'the metrics are')
    return await reply.header('content-type', metrics.contentType).send(await metrics.metrics())
  })
}
