import { createExecutors, openAudit, openSandbox, type Sandbox } from '@toolyard/executors'
import { createSchemaCompiler, openRegistrySource, reportFindings, reportReload, type Registry } from '@toolyard/manifests'
import { connectRedis, JobTypeTable, WorkerPool } from '@toolyard/queue'
import {
  apiKeysOf, builtinSettingsOf, createLogger, createMetrics, createToolMetrics, loadEnvFile, onHangup, permissionPolicyOf, readSettings,
  redisUrlOf, retentionOf, serveMetrics, stopOnSignal, tellParent, toolSourcesOf, type Logger, type Settings
} from '@toolyard/runtime'
import { mkdir } from 'node:fs/promises'
import { createHandler } from './handler.ts'
import { createSecretMask } from './secret-mask.ts'

/** What the service keeps in its working directory: no tool sees it. */
const serviceFiles = ['.env', '.toolyard']
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
  const url = redisUrlOf(settings)
  const redis = connectRedis(url, 'worker', error => { logger.warn({ err: error }, 'Redis: connection for commands') })
  const subscriber = connectRedis(url, 'subscriber', error => { logger.warn({ err: error }, 'Redis: connection for events') })
  await mkdir(settings.WORKSPACE_DIR, { recursive: true })

  const metrics = createMetrics()
  const toolMetrics = createToolMetrics(metrics)
  const tools = await openRegistrySource({
    ...toolSourcesOf(settings, process.env),
    onReload: result => {
      reportReload(result, logger)
      toolMetrics.reloaded(result.kind)
      toolMetrics.published(result.registry.published().length)
    }
  })
  reportFindings(tools.current().findings, logger)
  toolMetrics.published(tools.current().published().length)
  onHangup(() => { void tools.reload() })
  const metricsServer = settings.METRICS_PORT === undefined ? undefined : await serveMetrics(metrics, settings.HOST, settings.METRICS_PORT)
  const sandbox = await provideSandbox(settings, logger)
  reportOpenTools(tools.current(), sandbox, logger)
  const schemas = createSchemaCompiler()
  const builtins = builtinSettingsOf(settings)
  const secrets = [...apiKeysOf(settings).map(key => key.key), ...builtins.webSearch?.braveKey === undefined ? [] : [builtins.webSearch.braveKey]]
  const executors = createExecutors({
    sandbox,
    compileSchema: schema => schemas.validator(schema),
    logger,
    workspaceDir: settings.WORKSPACE_DIR,
    env: process.env,
    maxOutputBytes: settings.MAX_OUTPUT_BYTES,
    builtins,
    audit: openAudit({
      dir: settings.AUDIT_DIR,
      redact: settings.REDACT,
      secrets,
      onError: error => { logger.error({ err: error }, 'audit: a line could not be written') }
    })
  })
  const jobTypes = new JobTypeTable({ commands: redis, subscriber })
  const pool = new WorkerPool({
    redis,
    subscriber,
    retention: retentionOf(settings),
    queues: settings.WORKER_QUEUES,
    concurrency: settings.WORKER_CONCURRENCY,
    handle: createHandler({ registry: tools.current, jobTypes, executors, permissions: permissionPolicyOf(settings), logger, mask: createSecretMask(secrets) }),
    onError: (error, queue) => { logger.warn({ err: error, queue }, 'queue') }
  })
  await jobTypes.start()
  await pool.start()
  logger.info({ queues: settings.WORKER_QUEUES, concurrency: settings.WORKER_CONCURRENCY, tools: tools.current().all().length }, 'worker is ready')
  tellParent({ ready: true })

  stopOnSignal([
    () => pool.stop(settings.SHUTDOWN_GRACE_SEC * 1_000),
    () => executors.close(),
    () => { sandbox.close() },
    () => { tools.close() },
    () => metricsServer?.close(),
    () => {
      jobTypes.stop()
      redis.disconnect()
      subscriber.disconnect()
    }
  ], {
    graceMs: settings.SHUTDOWN_GRACE_SEC * 1_000 + settleMs,
    onStart: reason => { logger.info({ reason }, 'worker is stopping') },
    onError: error => { logger.error({ err: error }, 'a step of stopping failed') }
  })
}

/** @throws SandboxError when the settings require more than this machine has. */
async function provideSandbox (settings: Settings, logger: Logger): Promise<Sandbox> {
  const sandbox = await openSandbox({
    mode: settings.SANDBOX,
    env: process.env,
    workspaceDir: settings.WORKSPACE_DIR,
    hidden: [...serviceFiles, settings.AUDIT_DIR],
    defaultPermissions: settings.TOOL_DEFAULT_PERMISSIONS
  })
  const { level, missing, findings, advice } = sandbox.report
  const gaps = findings.filter(finding => !finding.holds)
  if (level === 'full') logger.info({ sandbox: { level, missing } }, 'the sandbox is whole')
  else logger.warn({ sandbox: { level, missing }, gaps, advice }, level === 'none' ? 'tools run without a sandbox' : 'the sandbox has gaps')
  return sandbox
}

/** A sandbox that is whole must not be mistaken for one that holds everything. */
function reportOpenTools (registry: Registry, sandbox: Sandbox, logger: Logger): void {
  const open = registry.all().filter(({ tool }) => tool.run.kind === 'python').map(({ tool }) => tool.name)
  if (open.length > 0 && sandbox.report.level !== 'none') logger.warn({ tools: open }, 'Python tools run without a sandbox')
}
