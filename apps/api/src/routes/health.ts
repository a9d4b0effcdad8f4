import { Health, Ready } from '@toolyard/contract'
import { readReadiness, type ReadinessCheck } from '@toolyard/runtime'
import type { App } from '../plugins/typed-app.ts'

/** The workers that are alive; undefined while that can't be known. */
export type ListWorkers = () => Promise<Ready['workers'] | undefined>

/** `/health`: the process answers. `/ready`: it can serve. Both without a key. */
export async function healthRoutes (
  app: App, { readiness, workers }: { readiness: Readonly<Record<string, ReadinessCheck>>, workers: ListWorkers }
): Promise<void> {
  app.get('/health', { schema: { response: { 200: Health } } }, async () => (
    { ok: true as const, service: 'toolyard-api', time: new Date().toISOString() }
  ))

  app.get('/ready', { schema: { response: { 200: Ready, 503: Ready } } }, async (_request, reply) => {
    const [ready, alive] = await Promise.all([readReadiness(readiness), workers()])
    return await reply.code(ready.ok ? 200 : 503).send({ ...ready, ...(alive === undefined ? {} : { workers: alive }) })
  })
}
