import {
  createLogger, listenFailure, loadEnvFile, onAbort, onHangup, openLogOutput, readReadiness, readSettings, serveStatus,
  settingWarnings, stopOnSignal, tellParent
} from '@toolyard/runtime'
import { mkdir } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { openApi } from './open.ts'

/** Time for answers that were waiting when the process stopped, in milliseconds. */
const answerMs = 2_000

/**
 * Runs the API process until it is told to stop. Reads `.env` and the environment.
 *
 * @throws SettingsError for a bad environment; an Error that names the setting when a port can't be listened on.
 */
export async function runApi (): Promise<void> {
  loadEnvFile()
  const settings = readSettings(process.env)
  const logger = createLogger('api', settings.LOG_LEVEL, await openLogOutput())
  for (const warning of settingWarnings(process.env)) logger.warn(warning)
  await mkdir(settings.WORKSPACE_DIR, { recursive: true }).catch((error: unknown) => {
    logger.warn({ err: error }, 'WORKSPACE_DIR is not there and can\'t be made: /v1/files has no files. Make the directory, or set another one')
  })
  const api = await openApi(settings, process.env, logger)
  const { app, metrics, drain, stop, end } = api
  onHangup(() => { void api.reload() })
  await api.start()
  const statusServer = settings.METRICS_PORT === undefined
    ? undefined
    : await serveStatus(
        { metrics: () => metrics.metrics(), contentType: metrics.contentType, readiness: () => readReadiness(api.readiness) },
        settings.HOST, settings.METRICS_PORT
      )
  const { HOST: host, PORT: port } = settings
  const address = await app.listen({ host, port }).catch(async (error: Error) => {
    const failure = listenFailure(error, { host, port, setting: 'PORT' })
    // Who has mended the one meets the other next.
    const { ok, detail = 'no answer' } = (await readReadiness(api.readiness)).checks['redis'] ?? { ok: true }
    throw ok ? failure : new Error(`${failure.message}. Redis can't be used either (${detail}): see whether it runs, and whether REDIS_URL is right`, { cause: error })
  })
  logger.info({ address, tools: api.published() }, 'API is listening')

  stopOnSignal([
    async hurry => {
      onAbort(hurry, () => { end.abort() })
      // Whoever spreads requests over processes looks at /ready now and then, and sends some until it has seen it.
      drain.abort()
      await delay(settings.SHUTDOWN_DELAY_SEC * 1_000, undefined, { signal: hurry }).catch(() => {})
      stop.abort()
      setTimeout(() => { end.abort() }, settings.SHUTDOWN_GRACE_SEC * 1_000).unref()
    },
    () => app.close(),
    () => statusServer?.close(),
    () => api.close()
  ], {
    graceMs: (settings.SHUTDOWN_DELAY_SEC + settings.SHUTDOWN_GRACE_SEC) * 1_000 + answerMs,
    onStart: reason => { logger.info({ reason }, 'API is stopping') },
    onError: error => { logger.error({ err: error }, 'a step of stopping failed') }
  })
  tellParent({ ready: true, address, tools: api.served() })
}
