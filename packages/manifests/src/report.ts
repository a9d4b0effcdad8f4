import type { Finding } from './finding.ts'
import type { ReloadResult } from './registry-source.ts'

/** As much of a logger as reports need. */
export interface ReportLogger {
  info: (data: object, message: string) => void
  warn: (data: object, message: string) => void
  error: (data: object, message: string) => void
}

/** Tells the log what is wrong with manifests, a line for each finding. */
export function reportFindings (findings: readonly Finding[], logger: ReportLogger): void {
  for (const finding of findings) {
    if (finding.severity === 'error') logger.error({ finding }, 'manifest')
    else logger.warn({ finding }, 'manifest')
  }
}

/** Tells the log what a reload came to. */
export function reportReload (result: ReloadResult, logger: ReportLogger): void {
  if (result.kind === 'refused') {
    logger.error({ findings: result.errors }, 'manifests: the new version is broken; the last good one is still served')
    return
  }
  if (result.kind === 'unchanged') return
  logger.info({ tools: result.registry.published().length, version: result.registry.version }, 'manifests: reloaded')
  reportFindings(result.registry.findings, logger)
}
