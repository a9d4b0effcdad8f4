import { openRegistrySource, reportFindings, reportReload } from '@toolyard/manifests'
import {
  CompletionWaiter, connectRedis, isConnected, JobCanceller, JobLister, JobLogs, JobQueues, JobReader, JobTypeTable, JobWatch, OnceStore, OutputStore,
  QueueDirectory, StreamTickets
} from '@toolyard/queue'
import {
  apiKeysOf, createLogger, createMetrics, createToolMetrics, loadEnvFile, onHangup, permissionPolicyOf, readSettings, redisUrlOf, retentionOf, serveMetrics,
  stopOnSignal, tellParent, toolSourcesOf
} from '@toolyard/runtime'
import { buildApp } from './app.ts'
import { JobTypes } from './job-types.ts'
import { readinessChecks } from './readiness.ts'
import { ToolCatalog } from './tool-catalog.ts'

/** How long the start waits for Redis, in milliseconds; without it the API serves what needs none, and 503. */
const connectMs = 2_000
/** Time for answers that were waiting when the process stopped, in milliseconds. */
const answerMs = 2_000

/**
 * Runs the API process until it is told to stop. Reads `.env` and the environment.
 *
 * @throws SettingsError for a bad environment; an Error when the port can't be listened on.
 */
export async function runApi (): Promise<void> {
  loadEnvFile()
  const settings = readSettings(process.env)
  const logger = createLogger('api', settings.LOG_LEVEL)
  const keys = apiKeysOf(settings)
  const url = redisUrlOf(settings)

  const commands = connectRedis(url, 'request', error => { logger.warn({ err: error }, 'Redis: connection for commands') })
  const subscriber = connectRedis(url, 'subscriber', error => { logger.warn({ err: error }, 'Redis: connection for events') })
  const directory = new QueueDirectory(commands, settings.MAX_QUEUES)
  const retention = retentionOf(settings)
  const queues = new JobQueues(commands, directory, retention)
  const outputs = new OutputStore(commands, retention)
  const waiter = new CompletionWaiter(commands, subscriber)
  const watch = new JobWatch(commands, subscriber)
  const jobs = new JobReader({ redis: commands, directory, queues, outputs })

  const metrics = createMetrics()
  const toolMetrics = createToolMetrics(metrics)
  const tools = await openRegistrySource({
    ...toolSourcesOf(settings, process.env),
    onReload: result => {
      reportReload(result, logger)
      if (result.kind === 'replaced') catalog.replace(result.registry)
      toolMetrics.reloaded(result.kind)
      toolMetrics.published(catalog.publication(undefined).count)
    }
  })
  const jobTypeTable = new JobTypeTable({
    commands,
    subscriber,
    onChange: () => {
      catalog.refresh()
      toolMetrics.published(catalog.publication(undefined).count)
    }
  })
  const jobTypes = new JobTypes({ permissions: permissionPolicyOf(settings), toolTimeoutSec: settings.TOOL_TIMEOUT_SEC, overrideOf: type => jobTypeTable.get(type) })
  const catalog = new ToolCatalog(tools.current(), jobTypes, settings.SKILLS_CONTEXT_MODE)
  reportFindings(tools.current().findings, logger)
  toolMetrics.published(catalog.publication(undefined).count)
  onHangup(() => { void tools.reload() })
  const metricsServer = settings.METRICS_PORT === undefined ? undefined : await serveMetrics(metrics, settings.HOST, settings.METRICS_PORT)

  const stop = new AbortController()
  const end = new AbortController()
  const app = buildApp({
    catalog,
    queues,
    waiter,
    outputs,
    jobs,
    logs: new JobLogs(commands),
    watch,
    tickets: new StreamTickets(commands),
    jobTypes,
    jobTypeTable,
    lister: new JobLister({ redis: commands, directory, queues }),
    canceller: new JobCanceller(commands, queues),
    onces: new OnceStore(commands),
    stopping: stop.signal,
    ending: end.signal
  }, {
    keys,
    authDisabled: settings.API_AUTH_DISABLED,
    maxStreams: settings.MAX_STREAMS,
    heartbeatMs: settings.SSE_HEARTBEAT_SEC * 1_000,
    ticketTtlSec: settings.SSE_TOKEN_TTL_SEC,
    readiness: readinessChecks({ commands, tools, authReady: settings.API_AUTH_DISABLED || keys.length > 0, stopping: stop.signal }),
    ...(metricsServer === undefined ? { metrics } : {}),
    logger
  })
  await isConnected(commands, connectMs)
  await jobTypeTable.start()
  void waiter.start().catch((error: unknown) => { logger.error({ err: error }, 'Redis: could not subscribe') })
  const address = await app.listen({ host: settings.HOST, port: settings.PORT })
  logger.info({ address, tools: catalog.publication(undefined).count }, 'API is listening')
  tellParent({ ready: true, address })

  stopOnSignal([
    () => {
      stop.abort()
      setTimeout(() => { end.abort() }, settings.SHUTDOWN_GRACE_SEC * 1_000).unref()
    },
    () => app.close(),
    () => {
      waiter.stop()
      watch.stop()
      jobTypeTable.stop()
      tools.close()
    },
    () => metricsServer?.close(),
    () => queues.close(),
    () => { commands.disconnect(); subscriber.disconnect() }
  ], {
    graceMs: settings.SHUTDOWN_GRACE_SEC * 1_000 + answerMs,
    onStart: reason => { logger.info({ reason }, 'API is stopping') },
    onError: error => { logger.error({ err: error }, 'a step of stopping failed') }
  })
}
