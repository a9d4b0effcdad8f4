import { protocol, storedJson } from '@toolyard/contract/terms'
import { createExecutors, loadCodeOf, openAudit } from '@toolyard/executors'
import { createAnswerSchemas, createSchemas, denyTest, openRegistrySource, patternOfNames, readYaml, reportFindings, reportReload, type Registry } from '@toolyard/manifests'
import { JobCanceller, JobQueues, OutputStore, QueueDirectory, StepJobs, WorkerPool } from '@toolyard/queue'
import {
  CallCounter, connectRedis, EntryLocks, ImportFaultTable, isConnected, keyPart,
  openSecrets, openSecretSource, StoredKeys, JobTypeTable, RedisGuard, reportRedis,
  SessionLeases, ShownFiles, ToolInventories, WorkerHeartbeat
} from '@toolyard/store'
import {
  answerParent, apiKeysOf, builtinSettingsOf, callbacksOf, createLogger, loadEnvFile, noManifests, onHangup, openLogOutput, ownerLimitsOf,
  permissionPolicyOf, sealKeysOf, readReadiness, readSettings, redisTargetOf, retentionOf, serveStatus, serviceFilesOf, sessionSettingsOf,
  settingWarnings, stopOnSignal, tellParent, toolSourcesOf, tracesOf, traceSecretsOf, type ReadinessCheck
} from '@toolyard/runtime'
import { openTracer } from '@toolyard/runtime/traces'
import { randomUUID } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { admitRedis } from './admit-redis.ts'
import { createHandler } from './job/handler.ts'
import { ImportWatch } from './import-watch.ts'
import { openWorkerMetrics } from './metrics.ts'
import { machineLoad } from './machine-load.ts'
import { Shortages } from './job/shortages.ts'
import { SessionWorkspaces } from './job/session-workspaces.ts'
import { provideSandbox } from './provide-sandbox.ts'
import { createSecretMask } from './job/secret-mask.ts'
import { ToolVersions } from './job/tool-versions.ts'
import { useTemporaryDirectory } from './temporary-directory.ts'
import { createStepsOf } from './job/workflow-steps.ts'
import { keptLimits, warmTools } from './warm-tools.ts'

/** After which a Redis that isn't there yet is told of, in milliseconds. */
const firstConnectMs = 2_000
/** How long the start waits for the modules of Python tools, in milliseconds. */
const importMs = 5_000
/** Time to kill and settle what outlived the grace time, in milliseconds. */
const settleMs = 5_000

/**
 * Runs a worker process until it is told to stop. Reads `.env` and the environment.
 *
 * @throws SettingsError for a bad environment.
 */
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
  await mkdir(settings.WORKSPACE_DIR, { recursive: true })
  const removeTemporary = useTemporaryDirectory()

  const metrics = await openWorkerMetrics(settings, redis, process.env)
  let keepWarm = (_registry: Registry): void => {}
  const tools = await openRegistrySource({
    ...toolSourcesOf(settings, process.env),
    onReload: result => {
      reportReload(result, logger)
      metrics.tools.reloaded(result)
      metrics.tools.published(result.registry.published().map(({ tool }) => tool))
      keepWarm(result.registry)
      void loadCodeOf(result.registry.all().map(({ tool }) => tool)).catch(() => {})
    }
  })
  reportFindings(tools.current().findings, logger)
  metrics.tools.published(tools.current().published().map(({ tool }) => tool))
  onHangup(() => { void tools.reload() })
  const sandbox = await provideSandbox(settings, tools.current(), logger)
  metrics.sandbox.opened(sandbox.report.missing)
  const schemas = createSchemas()
  const builtins = builtinSettingsOf(settings)
  const secrets = [
    ...apiKeysOf(settings).map(key => key.key), ...settings.CALLBACK_SECRET === undefined ? [] : [settings.CALLBACK_SECRET],
    ...builtins.webSearch?.braveKey === undefined ? [] : [builtins.webSearch.braveKey],
    ...traceSecretsOf(settings),
    ...[settings.SECRETS_KEY, settings.SECRETS_KEY_PREVIOUS].filter(key => key !== undefined)
  ]
  const executors = createExecutors({
    sandbox,
    compileSchema: schema => schemas.validators(schema).check,
    compilePattern: patternOfNames,
    compileDeny: denyTest,
    shownFiles: new ShownFiles(redis),
    logger,
    workspaceDir: settings.WORKSPACE_DIR,
    serviceFiles: serviceFilesOf(settings, process.env),
    env,
    maxOutputBytes: settings.MAX_OUTPUT_BYTES,
    ...keptLimits(settings),
    http: { privateHosts: settings.HTTP_PRIVATE_HOSTS },
    onConnection: metrics.egress.connected,
    secrets: openSecretSource(openSecrets(redis, sealKeysOf(settings)), settings.SECRETS_DIR, fault => { logger.warn(fault, 'a file of SECRETS_DIR is no secret') }),
    builtins: { ...builtins, workflows: { readYaml }, locks: new EntryLocks(redis) },
    audit: openAudit({
      dir: settings.AUDIT_DIR,
      redact: settings.REDACT,
      secrets,
      onError: error => { logger.error({ err: error }, 'audit: a line could not be written') }
    })
  })
  const callbacks = callbacksOf(settings)
  await executors.prepare()
  await loadCodeOf(tools.current().all().map(({ tool }) => tool))
  const jobTypes = new JobTypeTable({ commands: redis, subscriber, onChange: () => { keepWarm(tools.current()) } })
  const importFaults = new ImportFaultTable({
    commands: redis,
    subscriber,
    onChange: faults => {
      metrics.tools.published(tools.setImportFaults(faults).published().map(({ tool }) => tool))
    }
  })
  const imports = new ImportWatch({ tools, executors, table: importFaults, logger })
  const retention = retentionOf(settings)
  const permissions = permissionPolicyOf(settings)
  const queues = new JobQueues(redis, new QueueDirectory(redis, settings.MAX_QUEUES), retention, {
    queueDepth: settings.MAX_QUEUE_DEPTH, perOwner: ownerLimitsOf(settings).maxJobs
  })
  const stepsOf = createStepsOf({
    registry: tools.current,
    jobTypes,
    permissions,
    toolTimeoutSec: settings.TOOL_TIMEOUT_SEC,
    policy: () => tools.current().policy,
    jobs: new StepJobs({ redis, queues, outputs: new OutputStore(redis, retention), canceller: new JobCanceller(redis, queues) })
  })
  const inventories = new ToolInventories(redis)
  const versions = new ToolVersions(tools, inventories)
  const tracer = await openTracer(tracesOf(settings, 'worker'), message => { logger.warn({ cause: message }, 'traces: spans could not be sent') })
  const id = randomUUID()
  const counter = new CallCounter(redis, error => { logger.warn({ err: error }, 'Redis: statistics were not written') })
  counter.start()
  const sessions = new SessionWorkspaces({ leases: new SessionLeases(redis), places: sessionSettingsOf(settings), logger })
  const storedKeys = new StoredKeys(redis)
  const shortages = new Shortages({ tryStart: () => executors.tryStart(), logger })
  const pool: WorkerPool = new WorkerPool({
    name: id,
    redis,
    subscriber,
    retention,
    queues: settings.WORKER_QUEUES,
    concurrency: settings.WORKER_CONCURRENCY,
    totalConcurrency: settings.WORKER_TOTAL_CONCURRENCY,
    maxRunning: ownerLimitsOf(settings).maxRunning,
    replicas: settings.REDIS_WAIT_REPLICAS,
    mayTake: () => shortages.current === undefined && !heartbeat.isDrained,
    handle: createHandler({
      tools: versions,
      jobTypes,
      executors,
      permissions,
      sandbox,
      sessions,
      keyPartOf: async name => {
        const key = await storedKeys.named(name)
        return key === undefined ? '' : keyPart('redis', key)
      },
      answerSchemas: createAnswerSchemas(),
      shortages,
      stepsOf,
      logger,
      metrics: metrics.jobs,
      counter,
      mask: createSecretMask(secrets),
      tracer
    }),
    approvalUrl: settings.APPROVAL_CALLBACK_URL,
    // The HTTP client is loaded only where callbacks are sent.
    callbacks: 'missing' in callbacks
      ? undefined
      : { attempts: callbacks.attempts, send: (await import('./callbacks/sender.ts')).createCallbackSender(callbacks), onSent: metrics.callbacks.sent },
    onError: (error, queue) => { logger.warn({ err: error, queue }, 'queue') }
  })
  metrics.places(() => pool.places)
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
  const { version } = storedJson<{ version: string }>(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
  const identity = { id, protocol, version, host: hostname(), queues: settings.WORKER_QUEUES, sandbox: { level, missing } }
  const heartbeat = new WorkerHeartbeat(redis, id, async () => {
    await inventories.store(versions.inventory)
    const { current: shortage } = shortages
    return { ...identity, tools: versions.inventory.id, places: pool.places, load: machineLoad(), shortage, ran: counter.total }
  }, error => { logger.warn({ err: error }, 'Redis: the record of this worker was not written') })
  const state: { isRunning: boolean, statusServer?: Awaited<ReturnType<typeof serveStatus>> } = { isRunning: true }
  // Before it takes a job: a signal that came later would end it with what it runs.
  stopOnSignal([
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
    removeTemporary
  ], {
    graceMs: settings.SHUTDOWN_GRACE_SEC * 1_000 + settleMs,
    onStart: reason => { logger.info({ reason }, 'worker is stopping') },
    onError: error => { logger.error({ err: error }, 'a step of stopping failed') }
  })
  const imported = imports.start()
  await pool.start()
  await heartbeat.start()
  // It serves by now; who waits for it to be ready finds the tools as they are.
  await Promise.race([imported, delay(importMs, undefined, { ref: false })])
  keepWarm = registry => { executors.keepWarm(warmTools(registry.all().map(({ tool }) => tool), jobTypes)) }
  keepWarm(tools.current())
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
