import type { RegistrySource } from '@toolyard/manifests'
import { listWorkers, type Redis, type RedisGuard } from '@toolyard/store'
import type { ReadinessCheck } from '@toolyard/runtime'
import type { EventLoopWatch } from './plugins/load/event-loop-watch.ts'
import type { ListWorkers } from './routes/health.ts'
import { stateOf } from './routes/operation/workers.ts'

interface ReadinessParts {
  redis: RedisGuard
  tools: RegistrySource
  eventLoop: EventLoopWatch
  /** A key is configured, or authentication is switched off. */
  authReady: boolean
  draining: AbortSignal
}

export function readinessChecks (
  { redis, tools, eventLoop, authReady, draining }: ReadinessParts
): Record<string, ReadinessCheck> {
  return {
    running: async () => draining.aborted ? { ok: false, detail: 'the service is stopping' } : { ok: true },
    redis: () => redis.readiness(),
    load: async () => eventLoop.overloaded ? { ok: false, detail: 'this process has more to do than it can' } : { ok: true },
    auth: async () => authReady ? { ok: true } : { ok: false, detail: 'no API key is configured' },
    registry: async () => ({ ok: true, detail: registryDetail(tools) })
  }
}

/** Workers that `/ready` names; there may be hundreds. */
const mostWorkers = 20

export function aliveWorkers (commands: Redis): ListWorkers {
  return async () => {
    try {
      const { count, workers } = await listWorkers(commands, mostWorkers)
      return { count, list: workers.map(worker => ({ id: worker.id, sandbox: worker.sandbox, state: stateOf(worker) })) }
    } catch {
      // The check of Redis says so.
      return undefined
    }
  }
}

/** The tools are served whatever faults the files have by now, so that this is told but doesn't take the service out. */
function registryDetail (tools: RegistrySource): string {
  const registry = tools.current()
  const errors = registry.findings.filter(finding => finding.severity === 'error').length
  const served = `${registry.published().length} tools, ${errors} errors in manifests`
  const [problem] = tools.problems()
  return problem === undefined ? served : `${served}; the newest version has faults, and what they are about is served as it was: ${problem.file}: ${problem.message}`
}
