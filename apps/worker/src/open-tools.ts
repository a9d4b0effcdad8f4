import {
  createExecutors, loadCodeOf, openAudit, type Executors, type Sandbox, openSandbox, type ExecutorOptions
} from '@toolyard/executors'
import {
  createSchemas, denyTest, openRegistrySource, patternOfNames, readYaml, reportFindings, reportReload, type Registry,
  type RegistrySource, type Tool
} from '@toolyard/manifests'
import { EntryLocks, ImportFaultTable, JobTypeTable, openSecrets, openSecretSource, ShownFiles, type Redis } from '@toolyard/store'
import {
  apiKeysOf, builtinSettingsOf, declarationsOf, onHangup, sealKeysOf, secretPlacesOf, serviceFilesOf, toolSourcesOf, traceSecretsOf,
  type Logger, type Settings, sessionSettingsOf
} from '@toolyard/runtime'
import { ImportWatch } from './import-watch.ts'
import type { WorkerMetrics } from './metrics.ts'

export interface WorkerTools {
  tools: RegistrySource
  sandbox: Sandbox
  executors: Executors
  jobTypes: JobTypeTable
  importFaults: ImportFaultTable
  imports: ImportWatch
  /** Nothing that leaves the worker may show them. */
  secrets: readonly string[]
  /** Keeps tools that ask for it ready from now on. */
  keepReady: () => void
}

export interface ToolParts {
  /** The environment of tools; that of the process has the settings. */
  env: NodeJS.ProcessEnv
  redis: Redis
  subscriber: Redis
  metrics: WorkerMetrics
  logger: Logger
}

/** Reads the manifests, opens the sandbox, and makes the executors. */
export async function openTools (settings: Settings, { env, redis, subscriber, metrics, logger }: ToolParts): Promise<WorkerTools> {
  const builtins = builtinSettingsOf(settings)
  let keep = (_registry: Registry): void => {}
  const tools = await openRegistrySource({
    ...toolSourcesOf(settings, process.env),
    onReload: result => {
      reportReload(result, logger)
      metrics.tools.reloaded(result)
      metrics.tools.published(result.registry.published().map(({ tool }) => tool))
      keep(result.registry)
      void loadCodeOf(result.registry.all().map(({ tool }) => tool), builtins).catch(() => {})
    }
  })
  reportFindings(tools.current().findings, logger)
  metrics.tools.published(tools.current().published().map(({ tool }) => tool))
  onHangup(() => { void tools.reload() })
  const sandbox = await provideSandbox(settings, tools.current(), logger)
  metrics.sandbox.opened(sandbox.report.missing)
  const schemas = createSchemas()
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
    declarations: declarationsOf(settings, process.env),
    env,
    maxOutputBytes: settings.MAX_OUTPUT_BYTES,
    ...keptLimits(settings),
    http: { privateHosts: settings.HTTP_PRIVATE_HOSTS },
    onConnection: metrics.egress.connected,
    secrets: openSecretSource(openSecrets(redis, sealKeysOf(settings)), secretPlacesOf(settings), fault => { logger.warn(fault, 'a secret can\'t be read') }),
    builtins: { ...builtins, workflows: { readYaml }, locks: new EntryLocks(redis) },
    audit: openAudit({
      dir: settings.AUDIT_DIR,
      redact: settings.REDACT,
      secrets,
      onError: error => { logger.error({ err: error }, 'audit: a line could not be written') }
    })
  })
  await executors.prepare()
  await loadCodeOf(tools.current().all().map(({ tool }) => tool), builtins)
  const jobTypes = new JobTypeTable({ commands: redis, subscriber, onChange: () => { keep(tools.current()) } })
  const importFaults = new ImportFaultTable({
    commands: redis,
    subscriber,
    onChange: faults => {
      metrics.tools.published(tools.setImportFaults(faults).published().map(({ tool }) => tool))
    }
  })
  const imports = new ImportWatch({ tools, executors, table: importFaults, logger })
  return {
    tools,
    sandbox,
    executors,
    jobTypes,
    importFaults,
    imports,
    secrets,
    keepReady: () => {
      keep = registry => { executors.keep(warmTools(registry.all().map(({ tool }) => tool), jobTypes)) }
      keep(tools.current())
    }
  }
}

/** Processes of all tools of a worker together, where control groups count them. */
const mostProcesses = 4_096

/**
 * Opens the sandbox, and says in the log how well it shuts tools in.
 *
 * @throws SandboxError when the settings require more than this machine has.
 */
async function provideSandbox (settings: Settings, registry: Registry, logger: Logger): Promise<Sandbox> {
  const sandbox = await openSandbox({
    mode: settings.SANDBOX,
    env: process.env,
    workspaceDir: settings.WORKSPACE_DIR,
    sessionsDir: sessionSettingsOf(settings).dir,
    hidden: serviceFilesOf(settings, process.env),
    kept: declarationsOf(settings, process.env),
    defaultPermissions: settings.TOOL_DEFAULT_PERMISSIONS,
    python: registry.all().some(({ tool }) => tool.run.kind === 'python'),
    networks: registry.all().some(({ tool }) => tool.network !== undefined),
    groups: {
      processes: mostProcesses,
      workers: settings.WORKER_PROCESSES,
      onEnded: ended => { logger.warn(ended, `tools had nearly all of their ${ended.of}: the call that held the most was ended`) }
    }
  })
  const { level, missing, findings, advice } = sandbox.report
  const gaps = findings.filter(finding => !finding.holds)
  if (level === 'full') logger.info({ sandbox: { level, missing } }, 'the sandbox is whole')
  else logger.warn({ sandbox: { level, missing }, gaps, advice }, level === 'none' ? 'tools run without a sandbox' : 'the sandbox has gaps')
  return sandbox
}

/** Tools as processes of them are kept ready: with what was switched of their job types. */
function warmTools (tools: readonly Tool[], jobTypes: Pick<JobTypeTable, 'get'>): Tool[] {
  return tools.map(tool => {
    const { enabled = tool.enabled, warm = tool.warm } = jobTypes.get(tool.jobType)
    return { ...tool, enabled, ...(warm === undefined ? {} : { warm }) }
  })
}

const mebibyte = 2 ** 20

function keptLimits (
  { WARM_MAX_MB: warmMb, WARM_MAX_IDLE_SEC: idleSec, BOX_STOCK_MB: stockMb }: Pick<Settings, 'WARM_MAX_MB' | 'WARM_MAX_IDLE_SEC' | 'BOX_STOCK_MB'>
): Pick<ExecutorOptions, 'warm' | 'stock'> {
  return {
    ...warmMb > 0 && { warm: { maxBytes: warmMb * mebibyte, maxIdleMs: idleSec * 1_000 } },
    ...stockMb > 0 && { stock: { maxBytes: stockMb * mebibyte } }
  }
}
