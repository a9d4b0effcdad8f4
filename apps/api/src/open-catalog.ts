import { openRegistrySource, reportFindings, reportReload, type RegistrySource } from '@toolyard/manifests'
import { ImportFaultTable, JobTypeTable, type Redis } from '@toolyard/store'
import { noManifests, permissionPolicyOf, toolSourcesOf, type Logger, type Settings } from '@toolyard/runtime'
import { createToolMetrics, type MetricsRegistry } from '@toolyard/runtime/metrics'
import { JobTypes } from './catalog/job-types.ts'
import { ToolCatalog } from './catalog/tool-catalog.ts'

/** The tools of the manifests, as they may be called now. */
interface OpenCatalog {
  tools: RegistrySource
  jobTypeTable: JobTypeTable
  jobTypes: JobTypes
  catalog: ToolCatalog
  start: () => Promise<void>
  close: () => void
}

interface CatalogParts {
  env: NodeJS.ProcessEnv
  commands: Redis
  subscriber: Redis
  metrics: MetricsRegistry
  logger: Logger
}

/** Reads the manifests, and follows what changes of their tools. */
export async function openCatalog (settings: Settings, { env, commands, subscriber, metrics, logger }: CatalogParts): Promise<OpenCatalog> {
  if (settings.TOOL_MANIFESTS === undefined) logger.warn(noManifests)
  const toolMetrics = createToolMetrics(metrics)
  const tell = (): void => { toolMetrics.published(catalog.publication({}).visible) }
  const tools = await openRegistrySource({
    ...toolSourcesOf(settings, env),
    onReload: result => {
      reportReload(result, logger)
      // Also where all tools are served as before: what is wrong with the manifests may be new.
      catalog.replace(result.registry)
      toolMetrics.reloaded(result)
      tell()
    }
  })
  const jobTypeTable = new JobTypeTable({
    commands,
    subscriber,
    onChange: () => {
      catalog.refresh()
      tell()
    }
  })
  const importFaults = new ImportFaultTable({
    commands,
    subscriber,
    onChange: faults => {
      catalog.replace(tools.setImportFaults(faults))
      tell()
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
  tell()
  return {
    tools,
    jobTypeTable,
    jobTypes,
    catalog,
    start: async () => {
      await jobTypeTable.start()
      await importFaults.start()
    },
    close: () => {
      jobTypeTable.stop()
      importFaults.stop()
      tools.close()
    }
  }
}
