import { openRegistrySource, reportFindings, reportReload } from '@toolyard/manifests'
import {
  Approvals, BulkChanges, CallStatistics, CompletionWaiter, countQueues, FinishedJobs, JobCanceller, JobLister, JobLogs, JobQueues,
  JobReader, JobWatch, IdempotencyStore, OutputStore, QueueDirectory
} from '@toolyard/queue'
import {
  ChangeTrail, connectRedis, DashboardLogins, EntryLocks, ImportFaultTable, isConnected, JobTypeTable, McpSessions,
  openSecrets, RateLimit, RedisGuard, RedisUnavailableError, Replicas, reportRedis, SessionLeases, Sessions, StoredKeys, StreamTickets,
  whileAvailable
} from '@toolyard/store'
import {
  apiKeysOf, builtinSettingsOf, callbacksOf, createRedactor, noManifests, ownerLimitsOf, permissionPolicyOf, redisTargetOf, retentionOf,
  sealKeysOf, serviceFilesOf, sessionSettingsOf, sharedAbort, tokensOf, toolSourcesOf, tracesOf, traceSecretsOf, type Logger,
  type ReadinessCheck, type ServedTools, type Settings
} from '@toolyard/runtime'
import { createCallMetrics, createMetrics, createQueueMetrics, createToolMetrics, type MetricsRegistry } from '@toolyard/runtime/metrics'
import { openTracer } from '@toolyard/runtime/traces'
import { WriteTurns } from '@toolyard/workspace'
import { fileURLToPath } from 'node:url'
import { KeyRing } from './access/key-ring.ts'
import { buildApp } from './app.ts'
import { JobTypes } from './catalog/job-types.ts'
import { SessionFiles } from './files/session-files.ts'
import { EventLoopWatch } from './plugins/load/event-loop-watch.ts'
import type { App } from './plugins/typed-app.ts'
import { servedTools } from './served-tools.ts'
import { aliveWorkers, readinessChecks } from './readiness.ts'
import { openWorkerDesk } from './routes/operation/workers.ts'
import { ToolCatalog } from './catalog/tool-catalog.ts'

/** How long the start waits for Redis, in milliseconds; without it the API serves what needs none, and 503. */
const connectMs = 2_000

/** An API that stands on Redis and its manifests, and listens nowhere yet. */
export interface OpenApi {
  app: App
  metrics: MetricsRegistry
  readiness: Readonly<Record<string, ReadinessCheck>>
  published: () => number
  /** The same, with where they come from and what isn't served. */
  served: () => ServedTools
  reload: () => Promise<unknown>
  /** See `ApiDeps`: draining, then stopping, then ending. */
  drain: AbortController
  stop: AbortController
  end: AbortController
  /** Begins to follow what happens in Redis; the app may answer then. */
  start: () => Promise<void>
  /** Lets go of everything, once the app is closed. */
  close: () => Promise<void>
}

export async function openApi (settings: Settings, env: NodeJS.ProcessEnv, logger: Logger): Promise<OpenApi> {
  const keys = apiKeysOf(settings)
  const tokens = tokensOf(settings)
  const target = redisTargetOf(settings)
  if (settings.TOOL_MANIFESTS === undefined) logger.warn(noManifests)
  const commands = connectRedis(target, 'request', error => { logger.warn({ err: error }, 'Redis: connection for commands') })
  const subscriber = connectRedis(target, 'subscriber', error => { logger.warn({ err: error }, 'Redis: connection for events') })
  const directory = new QueueDirectory(commands, settings.MAX_QUEUES)
  const retention = retentionOf(settings)
  const replicas = new Replicas(commands, settings.REDIS_WAIT_REPLICAS)
  const ownerLimits = ownerLimitsOf(settings)
  const queues = new JobQueues(commands, directory, retention, {
    queueDepth: settings.MAX_QUEUE_DEPTH, perOwner: ownerLimits.maxJobs, replicas
  })
  const outputs = new OutputStore(commands, retention)
  const waiter = new CompletionWaiter(commands, subscriber)
  const watch = new JobWatch(commands, subscriber)
  const jobs = new JobReader({ redis: commands, directory, queues, outputs })

  const metrics = createMetrics()
  const toolMetrics = createToolMetrics(metrics)
  createQueueMetrics(metrics, { queues: () => countQueues(commands, directory), ping: () => commands.ping() })
  const tools = await openRegistrySource({
    ...toolSourcesOf(settings, env),
    onReload: result => {
      reportReload(result, logger)
      if (result.kind === 'replaced') catalog.replace(result.registry)
      toolMetrics.reloaded(result)
      toolMetrics.published(catalog.publication({}).visible)
    }
  })
  const jobTypeTable = new JobTypeTable({
    commands,
    subscriber,
    onChange: () => {
      catalog.refresh()
      toolMetrics.published(catalog.publication({}).visible)
    }
  })
  const importFaults = new ImportFaultTable({
    commands,
    subscriber,
    onChange: faults => {
      catalog.replace(tools.setImportFaults(faults))
      toolMetrics.published(catalog.publication({}).visible)
    }
  })
  const jobTypes = new JobTypes({
    permissions: permissionPolicyOf(settings),
    policy: () => tools.current().policy,
    toolTimeoutSec: settings.TOOL_TIMEOUT_SEC,
    jobTypes: jobTypeTable
  })
  const listing = { contextMode: settings.SKILLS_CONTEXT_MODE, listMax: settings.CATALOGUE_LIST_MAX }
  const catalog = new ToolCatalog(tools.current(), jobTypes, listing)
  reportFindings(tools.current().findings, logger)
  toolMetrics.published(catalog.publication({}).visible)

  const logs = new JobLogs(commands)
  const redactor = createRedactor({
    redact: settings.REDACT,
    secrets: [...keys.map(({ key }) => key), builtinSettingsOf(settings).webSearch?.braveKey ?? '', ...traceSecretsOf(settings)],
    onError: error => { logger.warn({ err: error }, 'dashboard: a text was hidden as a whole, REDACT took too long') }
  })
  const guard = new RedisGuard(commands, { allowUnsafe: settings.ALLOW_UNSAFE_REDIS, onReport: report => { reportRedis(report, logger) } })
  const canceller = new JobCanceller(commands, queues)
  const approvals = new Approvals({ redis: commands, replicas, queues, jobs, canceller })
  const lister = new JobLister({ redis: commands, directory, queues })
  const finished = new FinishedJobs({ redis: commands, queues, canceller, retention })
  const parts = { redis: commands, lister, canceller, finished }
  const bulk = new BulkChanges({
    ...parts,
    mayRun: (tool, key) => catalog.mayRun(tool, key),
    onError: (error, id) => { logger.warn({ err: error, bulk: id }, 'a bulk change waits') }
  })
  const [drain, stop, end] = [sharedAbort(), sharedAbort(), sharedAbort()]
  const eventLoop = new EventLoopWatch(settings.MAX_EVENT_LOOP_DELAY_MS)
  const readiness = readinessChecks({
    redis: guard,
    tools,
    eventLoop,
    authReady: settings.API_AUTH_DISABLED || keys.length > 0 || tokens !== undefined,
    draining: drain.signal
  })
  const storedKeys = new StoredKeys(commands, replicas)
  storedKeys.listen(subscriber)
  const [sessions, leases] = [new Sessions(commands, replicas), new SessionLeases(commands)]
  sessions.listen(subscriber)
  const [sessionSettings, serviceFiles] = [sessionSettingsOf(settings), serviceFilesOf(settings, env)]
  const tracer = await openTracer(tracesOf(settings, 'api'), message => { logger.warn({ cause: message }, 'traces: spans could not be sent') })
  const app = buildApp({
    catalog,
    metrics: createCallMetrics(metrics),
    queues,
    waiter,
    outputs,
    jobs,
    logs,
    watch,
    tickets: new StreamTickets(commands),
    jobTypes,
    jobTypeTable,
    lister,
    bulk,
    changes: new ChangeTrail(commands),
    canceller,
    approvals,
    finished,
    idempotency: new IdempotencyStore(commands),
    mcpSessions: new McpSessions(commands, subscriber),
    storedKeys,
    secrets: openSecrets(commands, sealKeysOf(settings)),
    sessions,
    statistics: new CallStatistics(commands),
    queueDesk: { count: async () => await countQueues(commands, directory), pause: queues.pause.bind(queues) },
    workerDesk: openWorkerDesk(commands),
    tracer,
    draining: drain.signal,
    stopping: stop.signal,
    ending: end.signal
  }, {
    keys: new KeyRing(keys, storedKeys),
    tokens,
    authDisabled: settings.API_AUTH_DISABLED,
    sessions: sessionSettings,
    maxSessionBytes: ownerLimits.maxSessionBytes,
    files: {
      workspace: { path: settings.WORKSPACE_DIR, serviceFiles },
      sessionFiles: new SessionFiles({ sessions, leases, places: sessionSettings, serviceFiles }),
      turns: new WriteTurns(new EntryLocks(commands, whileAvailable))
    },
    maxStreams: settings.MAX_STREAMS,
    heartbeatMs: settings.SSE_HEARTBEAT_SEC * 1_000,
    eventLoop,
    ...(ownerLimits.isRateLimited ? { rateLimit: new RateLimit(commands, ownerLimits.ratePerMinute) } : {}),
    ticketTtlSec: settings.SSE_TOKEN_TTL_SEC,
    callbacks: callbacksOf(settings),
    readiness,
    jobRetentionSec: settings.JOB_RETENTION_SEC,
    workers: aliveWorkers(commands),
    ...(settings.METRICS_PORT === undefined ? { metrics } : {}),
    ...(settings.DASHBOARD === 'on' ? { dashboard: { redis: commands, directory, queues, outputs, logs, redactor } } : {}),
    logins: new DashboardLogins(commands),
    consoleDir: fileURLToPath(new URL('./console', import.meta.url)),
    basePath: settings.BASE_PATH,
    trustProxy: settings.TRUST_PROXY,
    logger
  })
  return {
    app,
    metrics,
    readiness,
    published: () => catalog.publication({}).count,
    served: () => servedTools(tools.current(), catalog.publication({}).count),
    reload: () => tools.reload(),
    drain,
    stop,
    end,
    start: async () => {
      // It would hold up other requests while the first one of an MCP client loads it: docs/decisions/0074-mcp.md.
      const { preload } = await import('./mcp/protocol.ts')
      preload()
      // Node keeps an import that failed: what is loaded in a shortage would never be there again.
      await Promise.all([import('./openapi/document.ts'), tokens === undefined ? undefined : import('jose')])
      if (await isConnected(commands, connectMs)) await guard.admit().catch(unlessAway)
      await replicas.start()
      await jobTypeTable.start()
      await importFaults.start()
      leases.start(subscriber)
      void waiter.start().catch((error: unknown) => { logger.error({ err: error }, 'Redis: could not subscribe') })
      eventLoop.start()
      bulk.start()
    },
    close: async () => {
      bulk.stop()
      eventLoop.stop()
      waiter.stop()
      watch.stop()
      jobTypeTable.stop()
      importFaults.stop()
      leases.stop()
      tools.close()
      replicas.stop()
      await queues.close()
      commands.disconnect()
      subscriber.disconnect()
      await tracer?.close()
    }
  }
}

/** Redis may go away again at any moment; it is checked when it is back. */
function unlessAway (error: unknown): void {
  if (!(error instanceof RedisUnavailableError)) throw error
}
