import { BulkChanges, countQueues, createUnservedJobs } from '@toolyard/queue'
import { DashboardLogins, EntryLocks, RateLimit, whileAvailable } from '@toolyard/store'
import {
  apiKeysOf, builtinSettingsOf, callbacksOf, createRedactor, declarationsOf, onceAMinute, ownerLimitsOf, serviceFilesOf, sessionSettingsOf,
  sharedAbort, tokensOf, tracesOf, traceSecretsOf, type Logger, type ReadinessCheck, type ServedTools, type Settings
} from '@toolyard/runtime'
import { createCallMetrics, createMetrics, createQueueMetrics, type MetricsRegistry } from '@toolyard/runtime/metrics'
import { openTracer } from '@toolyard/runtime/traces'
import { WriteTurns } from '@toolyard/workspace'
import { fileURLToPath } from 'node:url'
import { KeyRing } from './access/key-ring.ts'
import { buildApp } from './app.ts'
import { SessionFiles } from './files/session-files.ts'
import { openCatalog } from './open-catalog.ts'
import { openStore } from './open-store.ts'
import { EventLoopWatch } from './plugins/load/event-loop-watch.ts'
import type { App } from './plugins/typed-app.ts'
import { aliveWorkers, readinessChecks } from './readiness.ts'
import type { Registry, Tool } from '@toolyard/manifests'

/** An API that stands on Redis and its manifests, and listens nowhere yet. */
interface OpenApi {
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
  const metrics = createMetrics()
  const store = openStore(settings, logger)
  const { commands, subscriber, directory, leases, deps } = store
  const { queues, storedKeys, sessions, outputs, logs, lister, canceller, finished } = deps
  createQueueMetrics(metrics, { queues: () => countQueues(commands, directory), ping: () => commands.ping() })
  const served = await openCatalog(settings, { env, commands, subscriber, metrics, logger })
  const { catalog, tools, jobTypes, jobTypeTable } = served
  const bulk = new BulkChanges({
    redis: commands,
    lister,
    canceller,
    finished,
    mayRun: (tool, key) => catalog.mayRun(tool, key),
    onError: onceAMinute((error, id) => { logger.warn({ err: error, bulk: id }, 'a bulk change waits') })
  })
  const unserved = createUnservedJobs({
    redis: commands,
    directory,
    queues,
    canceller,
    mayRepeat: type => catalog.mayRepeat(type),
    onError: onceAMinute((error, queue) => { logger.warn({ err: error, queue }, 'lost jobs could not be looked for') })
  })
  const redactor = createRedactor({
    redact: settings.REDACT,
    secrets: [...keys.map(({ key }) => key), builtinSettingsOf(settings).webSearch?.braveKey ?? '', ...traceSecretsOf(settings)],
    onError: error => { logger.warn({ err: error }, 'dashboard: a text was hidden as a whole, REDACT took too long') }
  })
  const [drain, stop, end] = [sharedAbort(), sharedAbort(), sharedAbort()]
  const eventLoop = new EventLoopWatch(settings.MAX_EVENT_LOOP_DELAY_MS)
  const readiness = readinessChecks({
    redis: store.guard,
    tools,
    eventLoop,
    authReady: settings.API_AUTH_DISABLED || keys.length > 0 || tokens !== undefined,
    draining: drain.signal
  })
  const ownerLimits = ownerLimitsOf(settings)
  const sessionSettings = sessionSettingsOf(settings)
  const closed = { serviceFiles: serviceFilesOf(settings, env), declarations: declarationsOf(settings, env) }
  const tracer = await openTracer(tracesOf(settings, 'api'), message => { logger.warn({ cause: message }, 'traces: spans could not be sent') })
  const app = buildApp({
    ...deps,
    catalog,
    metrics: createCallMetrics(metrics),
    jobTypes,
    jobTypeTable,
    bulk,
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
      workspace: { path: settings.WORKSPACE_DIR, ...closed },
      sessionFiles: new SessionFiles({ sessions, leases, places: sessionSettings, ...closed }),
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
    mcpUrl: settings.MCP_AUTH_RESOURCE,
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
      await Promise.all([import('./openapi/document.ts'), ...tokens === undefined ? [] : [import('jose'), import('@toolyard/runtime/connections')]])
      await store.start()
      await served.start()
      eventLoop.start()
      bulk.start()
      unserved.start()
    },
    close: async () => {
      bulk.stop()
      unserved.stop()
      eventLoop.stop()
      served.close()
      await store.close()
      await tracer?.close()
    }
  }
}

/** For `toolyard start`. */
function servedTools (registry: Registry, count: number): ServedTools {
  const files = new Set(registry.all().filter(({ tool }) => tool.source.format !== 'builtin').map(({ tool }) => tool.source.file))
  const faulty = new Set(registry.findings.filter(({ severity }) => severity === 'error').map(({ file }) => file))
  const callable = registry.published().find(({ tool }) => tool.source.format !== 'builtin' && tool.enabled && tool.unavailable === undefined && takesNothing(tool))
  return { count, manifests: files.size, faulty: faulty.size, ...callable !== undefined && { callable: callable.tool.name } }
}

/** Whether a call without arguments fits. */
function takesNothing ({ parameters: { type, required = [] } }: Tool): boolean {
  return type === 'object' && Array.isArray(required) && required.length === 0
}
