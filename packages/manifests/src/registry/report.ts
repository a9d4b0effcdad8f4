import type { Finding } from '../finding/finding.ts'
import type { ReloadResult } from './registry-source.ts'

interface ReportLogger {
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
  const { errors, hadErrors } = result
  const [first] = errors
  if (first !== undefined) logger.error({ findings: errors }, `manifests: the new version has faults; ${keptText(errors)}: ${sentence(first)}`)
  else if (hadErrors) logger.info({ version: result.registry.version }, 'manifests: the faults of the version before are mended')
  if (result.kind === 'unchanged') return
  logger.info({ tools: result.registry.published().length, version: result.registry.version }, 'manifests: reloaded')
  reportFindings(result.registry.findings, logger)
}

/** Rules of the policy file, tools, or both, which go on as they were. */
function keptText (errors: readonly Finding[]): string {
  const ofTools = errors.filter(error => !isOfPolicyFile(error))
  const files = new Set(ofTools.filter(({ whole }) => whole === true).map(({ file }) => file))
  const all = files.size === 0 ? '' : `, all of ${[...files].join(' and ')},`
  if (ofTools.length === errors.length) return `the tools that they are about${all} are served as they were`
  const rules = 'the rules of POLICY_FILE stay in force as they were'
  return ofTools.length === 0 ? rules : `${rules}, and the tools that the others are about${all} are served as they were`
}

function isOfPolicyFile ({ rule, whole }: Finding): boolean {
  return rule === 'policy/rule' && whole === true
}
