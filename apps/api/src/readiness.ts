import type { RegistrySource } from '@toolyard/manifests'
import type { Redis } from '@toolyard/queue'
import type { ReadinessCheck } from './routes/health.ts'

/** What readiness is read from. */
export interface ReadinessParts {
  commands: Redis
  tools: RegistrySource
  /** A key is configured, or authentication is switched off. */
  authReady: boolean
  stopping: AbortSignal
}

/** How long Redis may take to answer, in milliseconds. */
const pingMs = 1_000

/** The checks of `/ready`. */
export function readinessChecks ({ commands, tools, authReady, stopping }: ReadinessParts): Record<string, ReadinessCheck> {
  return {
    running: async () => stopping.aborted ? { ok: false, detail: 'the service is stopping' } : { ok: true },
    redis: async () => await answersPing(commands) ? { ok: true } : { ok: false, detail: 'Redis does not answer' },
    auth: async () => authReady ? { ok: true } : { ok: false, detail: 'no API key is configured' },
    registry: async () => ({ ok: true, detail: registryDetail(tools) })
  }
}

/** The last good tools are served whatever the files hold by now, so that this is told but doesn't take the service out. */
function registryDetail (tools: RegistrySource): string {
  const registry = tools.current()
  const errors = registry.findings.filter(finding => finding.severity === 'error').length
  const served = `${registry.published().length} tools, ${errors} errors in manifests`
  const [problem] = tools.problems()
  return problem === undefined ? served : `${served}; the newest version is broken and not served: ${problem.file}: ${problem.message}`
}

async function answersPing (redis: Redis): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>(resolve => { timer = setTimeout(resolve, pingMs, false) })
  const answer = await Promise.race([redis.ping().then(() => true, () => false), late])
  clearTimeout(timer)
  return answer
}
