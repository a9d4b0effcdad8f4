import { openApi, type App } from '@toolyard/api'
import { createLogger, readSettings } from '@toolyard/runtime'
import type { Cleanup } from './cleanup.ts'
import { createClient, type Client, type Send } from './client.ts'
import { holdAnswers } from './held-answers.ts'
import { startTestRedis, type TestRedis } from './redis.ts'
import { startApp, type AppProcess } from './processes.ts'
import { layOut, testKeys, type Layout, type ServiceOptions } from './service.ts'

/** A Redis, and an API within the test's own process; workers, where there are any, are processes. */
export interface InjectedService extends Layout {
  app: App
  client: Client
  redis: TestRedis
  startWorker: (env?: Record<string, string>) => Promise<AppProcess>
}

/**
 * Opens a service whose client hands its requests to the API by `inject`, and holds the answers against its document; the
 * test's end closes and removes all of it.
 */
export async function injectService (t: Cleanup, options: ServiceOptions = {}): Promise<InjectedService> {
  const redis = await startTestRedis(t, { aof: options.aof ?? false })
  const layout = await layOut(t, { REDIS_URL: redis.url }, { ...options, env: { LOG_LEVEL: 'silent', ...options.env } })
  const { dir, env } = layout
  const app = await openTestApi(t, env)
  const workers: AppProcess[] = []
  t.teardown(async () => { await Promise.all(workers.map(worker => worker.stop())) })
  const startWorker = async (extra: Record<string, string> = {}): Promise<AppProcess> => {
    const worker = await startApp('worker', dir, { ...env, ...extra })
    workers.push(worker)
    return worker
  }
  await Promise.all(Array.from({ length: options.workers ?? 1 }, () => startWorker()))
  return { ...layout, redis, startWorker, app, client: createClient(holdAnswers(inject(app), testKeys.admin), testKeys.admin) }
}

/** Opens an API within the test's own process; the test's end closes it. */
export async function openTestApi (t: Cleanup, env: NodeJS.ProcessEnv): Promise<App> {
  const api = await openApi(readSettings(env), env, createLogger('api', 'silent'))
  t.teardown(async () => {
    api.end.abort()
    await api.app.close()
    await api.close()
  })
  await api.start()
  return api.app
}

/** Hands requests to an API within the test's own process. */
export function inject (app: App): Send {
  return async (url, { method = 'GET', headers, body }) => {
    const answer = await app.inject({ method: method as 'GET', url, headers, ...(body === undefined ? {} : { payload: body }) })
    const flat = Object.entries(answer.headers)
      .flatMap(([name, value]) => [value ?? []].flat().map(each => [name, String(each)] as [string, string]))
    return new Response([204, 304].includes(answer.statusCode) ? null : answer.rawPayload, { status: answer.statusCode, headers: flat })
  }
}
