import { ErrorBody, WorkerList, type WorkerView } from '@toolyard/contract'
import type { SeenWorker } from '@toolyard/store'
import { principalOf, requireOperator, type Principal } from '../../access/principal.ts'
import type { App } from '../../plugins/typed-app.ts'

/** The workers that are alive, or that went away lately: how many there are, and at most so many of them. */
export type FindWorkers = (most: number, which?: 'lost') => Promise<{ count: number, workers: SeenWorker[] }>
const most = 500

/** The workers. They are the operator's: a key of a tenant learns nothing of machines. */
export async function workerRoutes (app: App, { find }: { find: FindWorkers }): Promise<void> {
  app.get('/workers', { schema: { response: { 200: WorkerList, '4xx': ErrorBody, '5xx': ErrorBody } } }, async request => {
    const principal = principalOf(request)
    requireOperator(principal)
    const [{ count, workers }, { workers: lost }] = await Promise.all([find(most), find(most, 'lost')])
    return {
      ok: true as const,
      workers: workers.map(worker => view(worker, principal)),
      count,
      lost: lost.reverse().map(({ id, host, seenAt }) => ({ id, host: host ?? null, last_seen_at: new Date(seenAt).toISOString() }))
    }
  })
}

function view (worker: SeenWorker, { queueAllowlist: allowed }: Principal): WorkerView {
  const { id, host, version, queues, places, sandbox, load, shortage, startedAt, seenAt } = worker
  return {
    id,
    host: host ?? null,
    version: version ?? null,
    queues: queues.filter(queue => queue === '*' || (allowed?.includes(queue) ?? true)),
    places: places === undefined
      ? null
      : { used: places.used, total: places.total, per_queue: places.perQueue, all_queues: places.allQueues ?? null },
    sandbox: { level: sandbox.level, missing: [...sandbox.missing] },
    load: load === undefined ? null : { average: load.average, processors: load.processors, memory_bytes: load.memoryBytes },
    shortage: shortage ?? null,
    started_at: startedAt,
    last_seen_at: new Date(seenAt).toISOString()
  }
}
