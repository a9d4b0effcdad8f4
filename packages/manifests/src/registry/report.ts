import type { Finding } from '../finding/finding.ts'
import type { ReloadResult } from './registry-source.ts'

export interface ReportLogger {
  info: (data: object, message: string) => void
  warn: (data: object, message: string) => void
  error: (data: object, message: string) => void
}

/** Tells the log what is wrong with manifests, a line for each finding. */
export function reportFindings (findings: readonly Finding[], logger: ReportLogger): void {
  for (const finding of findings) {
    if (finding.severity === 'error') logger.error({ finding }, `manifest ${sentence(finding)}`)
    else logger.warn({ finding }, `manifest ${sentence(finding)}`)
  }
}

/** The place, what is wrong there, and the remedy: a terminal shows no more of a log line than its message. */
function sentence ({ file, line, message, fix }: Finding): string {
  return `${file}${line === undefined ? '' : `:${line}`}: ${message}${fix === undefined ? '' : `. ${fix}`}`
}

export function reportReload (result: ReloadResult, logger: ReportLogger): void {
  const [first] = result.errors
  if (first !== undefined) logger.error({ findings: result.errors }, `manifests: the new version has faults; the tools that they are about are served as they were: ${sentence(first)}`)
  if (result.kind === 'unchanged') return
  logger.info({ tools: result.registry.published().length, version: result.registry.version }, 'manifests: reloaded')
  reportFindings(result.registry.findings, logger)
}
