import type { Redis } from '@toolyard/queue'
import type { ReadinessCheck } from './routes/health.ts'
import type { ToolCatalog } from './tool-catalog.ts'

/** What readiness is read from. */
export interface ReadinessParts {
  commands: Redis
  catalog: ToolCatalog
  /** A key is configured, or authentication is switched off. */
  authReady: boolean
  stopping: AbortSignal
}

/** How long Redis may take to answer, in milliseconds. */
const pingMs = 1_000

/** The checks of `/ready`. */
export function readinessChecks ({ commands, catalog, authReady, stopping }: ReadinessParts): Record<string, ReadinessCheck> {
  return {
    running: async () => stopping.aborted ? { ok: false, detail: 'the service is stopping' } : { ok: true },
    redis: async () => await answersPing(commands) ? { ok: true } : { ok: false, detail: 'Redis does not answer' },
    auth: async () => authReady ? { ok: true } : { ok: false, detail: 'no API key is configured' },
    registry: async () => {
      const errors = catalog.registry.findings.filter(finding => finding.severity === 'error').length
      return { ok: true, detail: `${catalog.registry.published().length} tools, ${errors} errors in manifests` }
    }
  }
}

async function answersPing (redis: Redis): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>(resolve => { timer = setTimeout(resolve, pingMs, false) })
  const answer = await Promise.race([redis.ping().then(() => true, () => false), late])
  clearTimeout(timer)
  return answer
}
