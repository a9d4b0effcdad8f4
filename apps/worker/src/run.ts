import { connectRedis, isConnected, RedisGuard, reportRedis, RedisUnavailableError, type Redis } from '@toolyard/store'
import {
  answerParent, createLogger, loadEnvFile, noManifests, openLogOutput, readReadiness, readSettings, redisTargetOf, serveStatus,
  SettingsError, settingWarnings, stopOnSignal, tellParent, type ReadinessCheck
} from '@toolyard/runtime'
import { asError } from '@toolyard/contract/terms'
import { mkdir } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { openWorkerMetrics } from './metrics.ts'
import { openPool } from './open-pool.ts'
import { openTools } from './open-tools.ts'
import { useTemporaryDirectory } from './temporary-directory.ts'

/** After which a Redis that isn't there yet is told of, in milliseconds. */
const firstConnectMs = 2_000
/** How long the start waits for the modules of Python tools, in milliseconds. */
const importMs = 5_000
/** Time to kill and settle what outlived the grace time, in milliseconds. */
const settleMs = 5_000

/** Runs a worker process until it is told to stop. Reads `.env` and the environment. @throws SettingsError for a bad environment. */
export async function runWorker (): Promise<void> {
  const env = loadEnvFile()
  const settings = readSettings(process.env)
  const logger = createLogger('worker', settings.LOG_LEVEL, await openLogOutput())
  for (const warning of settingWarnings(process.env)) logger.warn(warning)
  if (settings.TOOL_MANIFESTS === undefined) logger.warn(noManifests)
  const target = redisTargetOf(settings)
  let lastError = 'no answer'
  const redis = connectRedis(target, 'worker', error => {
    lastError = error.message
    logger.warn({ err: error }, 'Redis: connection for commands')
  })
  const subscriber = connectRedis(target, 'subscriber', error => { logger.warn({ err: error }, 'Redis: connection for events') })
  const guard = new RedisGuard(redis, { allowUnsafe: settings.ALLOW_UNSAFE_REDIS, onReport: report => { reportRedis(report, logger) } })
  await mkdir(settings.WORKSPACE_DIR, { recursive: true }).catch((error: unknown) => {
    throw new SettingsError([`WORKSPACE_DIR can't be made (${asError(error).message}): make the directory, or set another one`])
  })
  const temporary = useTemporaryDirectory()

  const metrics = await openWorkerMetrics(settings, redis, process.env)
  const opened = await openTools(settings, { env, redis, subscriber, metrics, logger })
  const { tools, sandbox, executors, jobTypes, importFaults, imports } = opened
  const { pool, heartbeat, queues, counter, sessions, shortages, tracer } = await openPool(settings, opened, {
    redis, subscriber, metrics, logger
  })
  counter.start()
  if (!await isConnected(redis, firstConnectMs)) {
    const waiting = `Redis can't be reached (${lastError}): see whether it runs, and whether REDIS_URL is right. It is tried again.`
    logger.warn(waiting)
    tellParent({ waiting })
  }
  await admitRedis(redis, guard)
  await jobTypes.start()
  await importFaults.start()
  sessions.start(subscriber, id => { executors.endSession(id) })
  const { level, missing } = sandbox.report
  const state: { isRunning: boolean, statusServer?: Awaited<ReturnType<typeof serveStatus>> } = { isRunning: true }
  // Before it takes a job: a signal that came later would end it with what it runs.
  const stop = stopOnSignal([
    () => { state.isRunning = false },
    () => { imports.stop() },
    () => { shortages.stop() },
    () => heartbeat.stop(),
    hurry => pool.stop(settings.SHUTDOWN_GRACE_SEC * 1_000, hurry),
    () => counter.stop(),
    () => executors.close(),
    () => { sessions.stop() },
    () => tracer?.close(),
    () => queues.close(),
    () => { sandbox.close() },
    () => { tools.close() },
    () => state.statusServer?.close(),
    () => {
      jobTypes.stop()
      importFaults.stop()
      redis.disconnect()
      subscriber.disconnect()
    },
    () => { temporary.remove() }
  ], {
    graceMs: settings.SHUTDOWN_GRACE_SEC * 1_000 + settleMs,
    onStart: reason => { logger.info({ reason }, 'worker is stopping') },
    onError: error => { logger.error({ err: error }, 'a step of stopping failed') }
  })
  temporary.watch(directory => {
    logger.error({ directory }, 'the temporary directory of the worker was removed: it stops, and the one that is started next has another')
    stop('its temporary directory was removed')
  })
  const imported = imports.start()
  await pool.start()
  await heartbeat.start()
  // It serves by now; who waits for it to be ready finds the tools as they are.
  await Promise.race([imported, delay(importMs, undefined, { ref: false })])
  opened.keepReady()
  const checks: Record<string, ReadinessCheck> = {
    running: async () => state.isRunning ? { ok: true } : { ok: false, detail: 'the worker is stopping' },
    drained: async () => heartbeat.isDrained ? { ok: false, detail: 'the worker takes no jobs until it is resumed' } : { ok: true },
    redis: () => guard.readiness(),
    processes: async () => shortages.readiness()
  }
  const readiness = (): ReturnType<typeof readReadiness> => readReadiness(checks)
  answerParent('status', async () => ({ ready: await readiness(), metrics: await metrics.json() }))
  if (settings.METRICS_PORT !== undefined) {
    const status = { metrics: metrics.text, contentType: metrics.contentType, readiness }
    state.statusServer = await serveStatus(status, settings.HOST, settings.METRICS_PORT)
  }
  logger.info({ queues: settings.WORKER_QUEUES, concurrency: settings.WORKER_CONCURRENCY, totalConcurrency: settings.WORKER_TOTAL_CONCURRENCY, tools: tools.current().all().length }, 'worker is ready')
  tellParent({ ready: true, sandbox: { level, missing } })
}

/** Between two looks for Redis. */
const connectMs = 60_000

/** Waits for Redis as long as it takes, and looks whether jobs are safe in it. @throws UnsafeRedisError */
async function admitRedis (redis: Redis, guard: RedisGuard): Promise<void> {
  for (;;) {
    if (!await isConnected(redis, connectMs)) continue
    try {
      return await guard.admit()
    } catch (error) {
      if (!(error instanceof RedisUnavailableError)) throw error
      await delay(500)
    }
  }
}
