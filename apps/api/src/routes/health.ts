import { Health, Ready } from '@toolyard/contract'
import type { App } from '../app.ts'

/** One thing that must hold for the service to be ready; `detail` says more, also when it holds. */
export type ReadinessCheck = () => Promise<{ ok: boolean, detail?: string }>

/** `/health`: the process answers. `/ready`: it can serve. Both without a key. */
export async function healthRoutes (app: App, { readiness }: { readiness: Readonly<Record<string, ReadinessCheck>> }): Promise<void> {
  app.get('/health', { schema: { response: { 200: Health } } }, async () => (
    { ok: true as const, service: 'toolyard-api', time: new Date().toISOString() }
  ))

  app.get('/ready', { schema: { response: { 200: Ready, 503: Ready } } }, async (_request, reply) => {
    const checks = Object.fromEntries(await Promise.all(Object.entries(readiness).map(async ([name, check]) => [name, await check()] as const)))
    const ok = Object.values(checks).every(check => check.ok)
    return await reply.code(ok ? 200 : 503).send({ ok, checks })
  })
}
