import { createExecutors, loadCodeOf, openAudit, type Executors, type Sandbox } from '@toolyard/executors'
import { createSchemas, denyTest, openRegistrySource, patternOfNames, readYaml, reportFindings, reportReload, type Registry, type RegistrySource } from '@toolyard/manifests'
import { EntryLocks, ImportFaultTable, JobTypeTable, openSecrets, openSecretSource, ShownFiles, type Redis } from '@toolyard/store'
import {
  apiKeysOf, builtinSettingsOf, onHangup, sealKeysOf, secretPlacesOf, serviceFilesOf, toolSourcesOf, traceSecretsOf,
  type Logger, type Settings
} from '@toolyard/runtime'
import { ImportWatch } from './import-watch.ts'
import type { WorkerMetrics } from './metrics.ts'
import { provideSandbox } from './provide-sandbox.ts'
import { keptLimits, warmTools } from './warm-tools.ts'

export interface WorkerTools {
  tools: RegistrySource
  sandbox: Sandbox
  executors: Executors
  jobTypes: JobTypeTable
  importFaults: ImportFaultTable
  imports: ImportWatch
  /** What nothing that leaves the worker may show. */
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
  return {
    tools,
    sandbox,
    executors,
    jobTypes,
    importFaults,
    imports,
    secrets,
    keepReady: () => {
      keepWarm = registry => { executors.keepWarm(warmTools(registry.all().map(({ tool }) => tool), jobTypes)) }
      keepWarm(tools.current())
    }
  }
}
