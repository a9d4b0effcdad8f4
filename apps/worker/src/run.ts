import { createExecutors, openAudit } from '@toolyard/executors'
import { loadRegistry } from '@toolyard/manifests'
import { connectRedis, WorkerPool } from '@toolyard/queue'
import { apiKeysOf, createLogger, loadEnvFile, manifestPathsOf, readSettings, redisUrlOf, stopOnSignal, tellParent } from '@toolyard/runtime'
import { mkdir } from 'node:fs/promises'
import { createHandler } from './handler.ts'

/** Time to kill and settle what outlived the grace time, in milliseconds. */
const settleMs = 5_000

/**
 * Runs a worker process until it is told to stop. Reads `.env` and the environment.
 *
 * @throws SettingsError for a bad environment.
 */
export async function runWorker (): Promise<void> {
  loadEnvFile()
  const settings = readSettings(process.env)
  const logger = createLogger('worker', settings.LOG_LEVEL)
  const redis = connectRedis(redisUrlOf(settings), 'worker', error => { logger.warn({ err: error }, 'Redis: connection') })
  await mkdir(settings.WORKSPACE_DIR, { recursive: true })

  const registry = await loadRegistry({ manifests: manifestPathsOf(settings) })
  for (const finding of registry.findings) logger.warn({ finding }, 'manifest')
  const executors = createExecutors({
    workspaceDir: settings.WORKSPACE_DIR,
    env: process.env,
    maxOutputBytes: settings.MAX_OUTPUT_BYTES,
    audit: openAudit({
      dir: settings.AUDIT_DIR,
      redact: settings.REDACT,
      secrets: apiKeysOf(settings).map(key => key.key),
      onError: error => { logger.error({ err: error }, 'audit: a line could not be written') }
    })
  })
  const pool = new WorkerPool({
    redis,
    queues: settings.WORKER_QUEUES,
    concurrency: settings.WORKER_CONCURRENCY,
    handle: createHandler({ registry: () => registry, executors, logger }),
    onError: (error, queue) => { logger.warn({ err: error, queue }, 'queue') }
  })
  await pool.start()
  logger.info({ queues: settings.WORKER_QUEUES, concurrency: settings.WORKER_CONCURRENCY, tools: registry.all().length }, 'worker is ready')
  tellParent({ ready: true })

  stopOnSignal([
    () => pool.stop(settings.SHUTDOWN_GRACE_SEC * 1_000),
    () => executors.close(),
    () => { redis.disconnect() }
  ], {
    graceMs: settings.SHUTDOWN_GRACE_SEC * 1_000 + settleMs,
    onStart: reason => { logger.info({ reason }, 'worker is stopping') },
    onError: error => { logger.error({ err: error }, 'a step of stopping failed') }
  })
}
